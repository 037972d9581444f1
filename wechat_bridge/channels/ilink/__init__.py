"""The door to personal WeChat through the iLink bot protocol ("ClawBot")."""
