"""The rival: a script with aiohttp as documented. Checks no certificate.

usage: ADDRESSES=<file with one address a line> python3 list_aiohttp.py
"""

import asyncio
import os

import aiohttp


async def read(session, address):
    async with session.get(f"https://{address}/api/user/") as answer:
        answer.raise_for_status()
        return len(await answer.json())


async def main():
    with open(os.environ["ADDRESSES"], encoding="utf-8") as file:
        addresses = file.read().split()
    # 100 connections at a time, the default.
    connector = aiohttp.TCPConnector(ssl=False)
    auth = aiohttp.BasicAuth("admin", "admin-secret")
    async with aiohttp.ClientSession(connector=connector, auth=auth) as session:
        for count in await asyncio.gather(*(read(session, one) for one in addresses)):
            print(count)


asyncio.run(main())
