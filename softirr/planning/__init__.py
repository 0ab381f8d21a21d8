"""How many items, raters and judgments a study needs; comparisons of files, groups, raters and models."""
