"""Connects WeChat accounts to reply engines through Celery. Importing it opens no connection."""
