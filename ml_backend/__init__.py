"""Label Studio's side of softirr: an ML backend that keeps each task's agreement up to date as a prediction."""
