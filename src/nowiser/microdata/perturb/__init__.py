"""Methods that change values, one file each.

Rules that every method of this folder follows:

* a missing value stays missing: it is never perturbed into a value, nor a value into it (record swapping alone
  exchanges it like any other, because what is swapped is the record);
* a column comes back in its own type; integers are rounded to the nearest integer unless the method
  says that it releases real numbers;
* everything is refused before anything is drawn: a method never stops half-way.
"""
