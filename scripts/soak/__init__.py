"""The long tests in parts, each of which goes on where it was stopped; and the table of docs/tested.md."""
