"""How the device speaks: /api/user/ as the API document says, /rest/ with DRF's own views."""

from django.db.models import F
from django.urls import include, path
from rest_framework import generics, routers, serializers, viewsets
from rest_framework.authtoken.models import Token
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.response import Response

from .models import Address, Group, Port, User


class MayWrite(IsAuthenticated):
    """Whoever logs in may read, staff may write."""

    def has_permission(self, request, view):
        may_read = super().has_permission(request, view)
        return may_read and (request.method in SAFE_METHODS or request.user.is_staff)


class AddressSerializer(serializers.ModelSerializer):
    class Meta:
        model = Address
        fields = ['city', 'zip']


class UserSerializer(serializers.ModelSerializer):
    address = AddressSerializer(required=False, allow_null=True)
    groups = serializers.SlugRelatedField(
        many=True, required=False, slug_field='name', queryset=Group.objects.all()
    )
    password = serializers.CharField(write_only=True, required=False)

    class Meta:
        model = User
        exclude = ['id']
        read_only_fields = ['uuid', 'last_login', 'date_joined']

    def create(self, fields):
        return self.update(User(), fields)

    def update(self, user, fields):
        password = fields.pop('password', None)
        groups = fields.pop('groups', None)
        if 'address' in fields:
            address = fields.pop('address')
            user.address = address and Address.objects.create(**address)
        for name, value in fields.items():
            setattr(user, name, value)
        if password is not None:
            user.set_password(password)
        elif user.pk is None:
            user.set_unusable_password()
        user.save()
        if groups is not None:
            user.groups.set(groups)
        return user


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ['id', 'name', 'comment']


class PortSerializer(serializers.ModelSerializer):
    owner = serializers.SlugRelatedField(
        allow_null=True, required=False, slug_field='username', queryset=User.objects.all()
    )

    class Meta:
        model = Port
        fields = '__all__'
        read_only_fields = ['packets']


class TokenSerializer(serializers.ModelSerializer):
    user = serializers.CharField(source='user.username', read_only=True)

    class Meta:
        model = Token
        fields = ['key', 'user', 'created']


class DocumentedUsers(generics.ListAPIView):
    """GET: all users with all fields. POST: a form with `uuid`, which is the text null for a new one."""

    queryset = User.objects.order_by('id')
    serializer_class = UserSerializer
    permission_classes = [MayWrite]

    def post(self, request):
        uuid = request.data.get('uuid')
        is_new = uuid in (None, '', 'null')
        user = None if is_new else get_object_or_404(User, uuid=uuid)
        serializer = UserSerializer(user, data=request.data)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data, status=201 if is_new else 200)


class DocumentedUser(generics.RetrieveDestroyAPIView):
    queryset = User.objects.all()
    serializer_class = UserSerializer
    permission_classes = [MayWrite]
    lookup_field = 'uuid'


class Users(viewsets.ModelViewSet):
    queryset = User.objects.order_by('id')
    serializer_class = UserSerializer
    permission_classes = [MayWrite]
    lookup_field = 'uuid'


class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.order_by('id')
    serializer_class = GroupSerializer
    permission_classes = [MayWrite]


class Ports(viewsets.ModelViewSet):
    queryset = Port.objects.order_by('id')
    serializer_class = PortSerializer
    permission_classes = [MayWrite]

    def get_queryset(self):
        Port.objects.update(packets=F('packets') + 7)
        return super().get_queryset()


class Tokens(viewsets.ModelViewSet):
    queryset = Token.objects.order_by('created')
    serializer_class = TokenSerializer
    permission_classes = [MayWrite]
    http_method_names = ['get', 'delete', 'head', 'options']


router = routers.DefaultRouter()
for name, view in {'user': Users, 'group': Groups, 'port': Ports, 'token': Tokens}.items():
    router.register(name, view)

urlpatterns = [
    path('api/user/', DocumentedUsers.as_view()),
    path('api/user/<uuid:uuid>/', DocumentedUser.as_view()),
    path('rest/', include(router.urls)),
]
