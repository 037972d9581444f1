"""The Celery shell: the base task, the doorbells, and tasks of three lines each."""
