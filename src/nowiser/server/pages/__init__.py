"""The web pages: drawn on the server, working without JavaScript, loading nothing from elsewhere.

`routes.py` mounts one file per page; `drawing.py` fills the templates; `pictures.py` draws the charts.
"""
