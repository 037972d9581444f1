"""Apps of company WeChat (企业微信): messages come as encrypted callbacks, answers go out by ``message/send``."""
