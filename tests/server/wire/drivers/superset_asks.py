"""Runs in Superset's own environment: adds the server as a database, a table as a dataset, draws a chart, asks in SQL Lab.

python superset_asks.py FOLDER SQLALCHEMY_URI      prints what came, as JSON
"""

import json
import os
import sys
from pathlib import Path

folder, uri = Path(sys.argv[1]), sys.argv[2]
(folder / "superset_config.py").write_text(
    f"SECRET_KEY = 'of a test'\nSQLALCHEMY_DATABASE_URI = 'sqlite:///{folder}/superset.db'\n"
    "WTF_CSRF_ENABLED = False\nTALISMAN_ENABLED = False\nRATELIMIT_ENABLED = False\n"
    "DATA_CACHE_CONFIG = {'CACHE_TYPE': 'NullCache'}\nPREVENT_UNSAFE_DB_CONNECTIONS = False\n"
    "CACHE_CONFIG = FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = {'CACHE_TYPE': 'SimpleCache'}\n"
)
os.environ |= {"SUPERSET_CONFIG_PATH": str(folder / "superset_config.py"), "SUPERSET_HOME": str(folder)}

from flask_migrate import upgrade  # noqa: E402
from superset.app import create_app  # noqa: E402

app = create_app()
with app.app_context():
    import superset
    from superset.extensions import appbuilder, security_manager

    upgrade(directory=str(Path(superset.__file__).parent / "migrations"))
    appbuilder.add_permissions(update_perms=True)
    security_manager.sync_role_definitions()
    security_manager.add_user("admin", "a", "b", "admin@hospital.example", security_manager.find_role("Admin"), "pw")

client = app.test_client()


def asked(method, path, body=None, **query):
    answer = client.open(f"/api/v1/{path}", method=method, json=body, headers=headers, query_string=query)
    if answer.status_code >= 400:
        return {"status": answer.status_code, "said": answer.get_data(as_text=True)[:2000]}
    return answer.get_json()


headers = {}
headers = {
    "Authorization": "Bearer "
    + asked("POST", "security/login", {"username": "admin", "password": "pw", "provider": "db", "refresh": True})[
        "access_token"
    ]
}
found = {"version": app.config.get("VERSION_STRING", "")}
found["tested"] = asked("POST", "database/test_connection/", {"sqlalchemy_uri": uri, "database_name": "nowiser"})
made = asked("POST", "database/", {"database_name": "nowiser", "sqlalchemy_uri": uri, "expose_in_sqllab": True})
assert "id" in made, (found, made)
found["schemas"] = asked("GET", f"database/{made['id']}/schemas/")
found["tables"] = asked("GET", f"database/{made['id']}/tables/", q="(schema_name:public)")
found["columns"] = asked("GET", f"database/{made['id']}/table_metadata/", name="visits", schema="public")
dataset = asked("POST", "dataset/", {"database": made["id"], "schema": "public", "table_name": "visits"})
found["dataset"] = dataset


def chart(**query):
    body = {
        "datasource": {"id": dataset["id"], "type": "table"},
        "force": True,
        "queries": [{"row_limit": 1000, **query}],
        "result_format": "json",
        "result_type": "full",
    }
    return asked("POST", "chart/data", body)


minutes = {"label": "minutes", "expressionType": "SQL", "sqlExpression": "AVG(time)"}
found["chart"] = chart(columns=["faculty"], metrics=[minutes], orderby=[[minutes, False]])
found["again"] = chart(columns=["faculty"], metrics=[minutes], orderby=[[minutes, False]])
lab = {"database_id": made["id"], "schema": "public", "runAsync": False, "queryLimit": 1000}
found["lab"] = asked("POST", "sqllab/execute/", lab | {"sql": "SELECT AVG(time) AS minutes FROM visits"})
found["preview"] = asked("POST", "sqllab/execute/", lab | {"sql": "SELECT * FROM visits LIMIT 100"})
print(json.dumps(found, default=str))
