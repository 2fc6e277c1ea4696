"""What people read: the report, the gallery, and pages of the documentation that are computed."""
