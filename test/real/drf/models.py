"""What the device holds."""

import uuid

from django.contrib.auth.models import AbstractBaseUser, UserManager
from django.db import models


class Group(models.Model):
    name = models.CharField(max_length=40, unique=True)
    comment = models.TextField(null=True, blank=True)


class Address(models.Model):
    city = models.CharField(max_length=40, blank=True)
    zip = models.CharField(max_length=10, null=True, blank=True)


class User(AbstractBaseUser):
    USERNAME_FIELD = 'username'

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    username = models.CharField(max_length=40, unique=True)
    first_name = models.CharField(max_length=40, blank=True)
    lastname = models.CharField(max_length=40, blank=True)
    lang = models.CharField(max_length=2, choices=[('de', 'German'), ('en', 'English'), ('fr', 'French')])
    email = models.EmailField(blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    expires = models.DateField(null=True, blank=True)
    notes = models.TextField(null=True, blank=True)
    quota = models.IntegerField(null=True, blank=True)
    address = models.OneToOneField(Address, null=True, on_delete=models.SET_NULL)
    groups = models.ManyToManyField(Group, blank=True)
    date_joined = models.DateTimeField(auto_now_add=True)

    objects = UserManager()


class Port(models.Model):
    """An interface of the device: `packets` moves by itself."""

    name = models.CharField(max_length=20, unique=True)
    mtu = models.IntegerField(default=1500)
    enabled = models.BooleanField(default=True)
    owner = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL)
    labels = models.JSONField(null=True, blank=True)
    packets = models.IntegerField(default=0, editable=False)
