"""What tests share: worlds to attack, tables, engines that live, generators of questions, oracles."""
