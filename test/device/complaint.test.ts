import { describe, expect, test } from 'vitest';
import { declinedReason, issuesOf, objectionIn } from '../../src/device/complaint.ts';

const SENT = ['username', 'first_name', 'address', 'roles', 'type', 'mtu'];

describe('a complaint ends at its field, as it comes from', () => {
  test.each<[who: string, body: unknown, issues: Readonly<Record<string, string[]>>]>([
    ['Django REST Framework', { username: ['taken', 'short'] }, { username: ['taken', 'short'] }],
    [
      'nested fields',
      { address: { city: ['required'] }, roles: { 0: ['no'] } },
      { 'address.city': ['required'], 'roles.0': ['no'] },
    ],
    ['fields called like an entry', { name: ['x'], reason: ['y'] }, { name: ['x'], '': ['y'] }],
    ['a field with a general name', { type: ['bad'], detail: 'x' }, { type: ['bad'], '': ['x'] }],
    ['OPNsense', { result: 'failed', validations: { 'user.username': 'x' } }, { username: ['x'] }],
    ['a wrapper', { data: { user: { username: ['x'] } } }, { username: ['x'] }],
    ['a list', { errors: [{ field: 'username', message: 'x' }] }, { username: ['x'] }],
    ['an index', { errors: [{ field: 'users[0].username', message: 'x' }] }, { username: ['x'] }],
    [
      'Laravel',
      { message: 'invalid', errors: { username: ['a', 'b'], 'address.city': ['c'] } },
      { '': ['invalid'], username: ['a', 'b'], 'address.city': ['c'] },
    ],
    [
      'Redfish',
      {
        error: {
          code: 'Base.1.8.GeneralError',
          message: 'See ExtendedInfo',
          '@Message.ExtendedInfo': [
            { MessageId: 'Base.1.8.X', Message: 'UserName missing', Severity: 'Critical' },
          ],
        },
      },
      { '': ['See ExtendedInfo', 'UserName missing'] },
    ],
    [
      'GitHub',
      {
        message: 'Validation Failed',
        errors: [{ resource: 'User', field: 'username', code: 'invalid', message: 'x' }],
        documentation_url: 'https://docs.example/rest',
      },
      { '': ['Validation Failed'], username: ['x'] },
    ],
    ['Rails', { errors: { first_name: ['is too short'] } }, { first_name: ['is too short'] }],
    ['Rails in sentences', { errors: ['Name is too short'] }, { '': ['Name is too short'] }],
    [
      'JSON:API',
      {
        errors: [
          {
            status: '422',
            code: 'blank',
            title: 'Invalid',
            detail: 'x',
            source: { pointer: '/data/attributes/first-name' },
          },
        ],
      },
      { first_name: ['x'] },
    ],
    [
      'Spring',
      {
        timestamp: '2026-01-01T00:00:00Z',
        status: 400,
        error: 'Bad Request',
        path: '/api/user/',
        errors: [
          {
            codes: ['NotBlank.user.firstName'],
            arguments: [{ codes: ['user.firstName'], defaultMessage: 'firstName' }],
            defaultMessage: 'must not be blank',
            objectName: 'user',
            field: 'firstName',
            rejectedValue: '',
            code: 'NotBlank',
          },
        ],
      },
      { '': ['Bad Request'], first_name: ['must not be blank'] },
    ],
    [
      'Jakarta Validation',
      { violations: [{ propertyPath: 'create.user.username', message: 'x' }] },
      { username: ['x'] },
    ],
    [
      'FastAPI',
      {
        detail: [
          { loc: ['body', 'username'], msg: 'too long', type: 'value_error', input: 'y', ctx: {} },
          { loc: ['body', 'address', 'city'], msg: 'missing', type: 'missing' },
        ],
      },
      { username: ['too long'], 'address.city': ['missing'] },
    ],
    [
      'problem+json',
      {
        type: 'https://example.net/validation-error',
        title: 'invalid',
        status: 400,
        instance: '/x',
        'invalid-params': [{ name: 'mtu', reason: 'too big' }],
      },
      { '': ['invalid'], mtu: ['too big'] },
    ],
    [
      'ASP.NET',
      { title: 'invalid', status: 400, errors: { FirstName: ['x'], '$.mtu': ['y'] }, traceId: 'z' },
      { '': ['invalid'], first_name: ['x'], mtu: ['y'] },
    ],
    [
      'express-validator',
      { errors: [{ type: 'field', msg: 'x', path: 'username', location: 'body', value: 'v' }] },
      { username: ['x'] },
    ],
    [
      'Joi',
      { statusCode: 400, details: [{ message: 'x', path: ['address', 'zip'], type: 'any' }] },
      { 'address.zip': ['x'] },
    ],
    ['ONTAP', { error: { message: 'x', code: '4', target: 'username' } }, { username: ['x'] }],
    [
      'Google',
      {
        error: {
          code: 400,
          message: 'bad',
          status: 'INVALID',
          details: [{ '@type': 't', fieldViolations: [{ field: 'mtu', description: 'x' }] }],
        },
      },
      { '': ['bad'], mtu: ['x'] },
    ],
    [
      'GitHub',
      { message: 'Failed', errors: [{ resource: 'User', field: 'username', code: 'missing' }] },
      { '': ['Failed'], username: ['missing'] },
    ],
    ['marshmallow', { errors: { json: { username: ['x'] } } }, { username: ['x'] }],
    ['a form in brackets', { errors: { 'user[username]': 'x' } }, { username: ['x'] }],
    ['a field that was not sent', { errors: { 'data.color': ['x'] } }, { color: ['x'] }],
    ['pfSense', { code: 400, status: 'bad request', message: 'x', data: [] }, { '': ['x'] }],
    ['a bare list', ['x', 'y'], { '': ['x', 'y'] }],
    ['what is said twice', { detail: 'x', message: 'x' }, { '': ['x'] }],
  ])('%s', (_who, body, issues) => {
    expect(issuesOf(JSON.stringify(body), SENT)).toEqual(issues);
  });
});

test('a refusal with a success status has its reason', () => {
  expect(declinedReason({ result: 'failed', validations: { 'user.name': 'x' } })).toBe(
    'user.name: x',
  );
  expect(declinedReason({ result: 'saved' })).toBeUndefined();
});

describe('an objection in a successful response', () => {
  test.each([
    ['{"results":[{"code":500,"status":"No such attribute"}]}', 'No such attribute'],
    ['{"status":422,"message":"Read-only"}', 'Read-only'],
    ['{"error":{"code":"403","detail":"Not yours"}}', 'Not yours'],
    ['[{"code":409,"error":"Taken"},{"code":409,"error":"Taken"}]', 'Taken'],
  ])('%s: %s', (body, text) => {
    expect(objectionIn(body)).toBe(text);
  });

  test.each([
    '{"results":[{"code":200,"status":"Attributes updated"}]}',
    '{"code":500}',
    '{"message":"all is well"}',
    'OK',
    '',
    '{"status":"active","id":500}',
  ])('%s objects to nothing', (body) => {
    expect(objectionIn(body)).toBeUndefined();
  });
});
