"""serve.py FOLDER PORT: the device at http://127.0.0.1:PORT, with its database in FOLDER."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(Path(__file__).parent.parent)

import django
from django.conf import settings

folder, port = sys.argv[1:]
apps = ['auth', 'contenttypes', 'authtoken', 'drf']
settings.configure(
    ALLOWED_HOSTS=['*'],
    AUTH_USER_MODEL='drf.User',
    DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': f'{folder}/device.sqlite'}},
    DEFAULT_AUTO_FIELD='django.db.models.AutoField',
    INSTALLED_APPS=[
        'django.contrib.auth',
        'django.contrib.contenttypes',
        'rest_framework',
        'rest_framework.authtoken',
        'drf',
    ],
    MIGRATION_MODULES={app: None for app in apps},
    # As a small device would: each request with Basic hashes the password.
    PASSWORD_HASHERS=['django.contrib.auth.hashers.MD5PasswordHasher'],
    REST_FRAMEWORK={
        'DEFAULT_AUTHENTICATION_CLASSES': [
            'rest_framework.authentication.BasicAuthentication',
            'rest_framework.authentication.TokenAuthentication',
        ],
    },
    ROOT_URLCONF='drf.views',
    SECRET_KEY='of a test',
    TIME_ZONE='UTC',
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from rest_framework.authtoken.models import Token

from drf.models import Address, Group, Port, User

call_command('migrate', run_syncdb=True, verbosity=0)

staff, guests = (Group.objects.create(name=name) for name in ['staff', 'guests'])
people = [
    (dict(username='admin', lang='en', first_name='Ad', lastname='Min', is_staff=True), None, [staff]),
    (dict(username='ann', lang='de', first_name='Ann', email='ann@example.org', notes=''), {'city': 'Ulm'}, [staff]),
    (dict(username='bob', lang='de', lastname='Builder', quota=0, expires='2027-01-31'), None, [staff, guests]),
    (
        dict(username='cyd', lang='fr', first_name='Çyd', lastname='O’Clark', notes='a&b=c\n"d"'),
        {'city': 'Ulm', 'zip': '89073'},
        [],
    ),
    (dict(username='dan', lang='fr', is_active=False), {'city': ''}, [guests]),
    (dict(username='eve', lang='en'), None, []),
]
for fields, address, groups in people:
    user = User(**fields, address=address and Address.objects.create(**address))
    user.set_password(f'{user.username}-secret')
    user.save()
    user.groups.set(groups)
    Token.objects.create(user=user)
for number, labels in enumerate([None, {'a': None}, [], '']):
    Port.objects.create(name=f'eth{number}', owner=user if number == 1 else None, labels=labels)

server = ThreadedWSGIServer(('127.0.0.1', int(port)), WSGIRequestHandler)
server.daemon_threads = True
server.set_app(get_wsgi_application())
server.serve_forever()
