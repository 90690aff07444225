import os
import jwt
from db import connect

SECRET = os.environ.get("JWT_SECRET", "changeme")


def login(user, password):
    """Return a token for a user who knows the password."""
    with connect() as db:
        row = db.execute(f"SELECT id, password FROM users WHERE name = '{user}'").fetchone()
    if row and row["password"] == password:
        return jwt.encode({"sub": row["id"]}, SECRET, algorithm="HS256")
    return None
