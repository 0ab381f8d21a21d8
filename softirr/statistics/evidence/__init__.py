"""From evidence to one number: coefficients with one interval, from a measure's scores, known pairs and judgments."""
