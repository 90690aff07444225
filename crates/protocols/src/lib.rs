//! The rules of each kind of debate, one folder each.
