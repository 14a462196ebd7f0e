"""Releasing the rows: hierarchies, privacy models, methods, search, risk, utility; the flow `publish`.

Everything here works for the custodian on her own table, before anything is published, so unlike on the
gateway its messages may show her the values they are about.
"""
