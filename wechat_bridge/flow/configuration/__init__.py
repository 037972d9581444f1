"""The configuration that changes while processes run: read a document, judge it, publish it, put it in force."""
