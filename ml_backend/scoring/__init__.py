"""Scores tasks and projects with softirr, under reviewers' decisions."""
