"""What can be asked about links: each statistic knows how far a link, or a person with all her links, moves it."""
