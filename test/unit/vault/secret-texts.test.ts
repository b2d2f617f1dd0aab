import { describe, expect, test } from '@jest/globals'
import { holdsSecret, holdsSecretOf } from '../../../src/vault/looks-secret.js'
import { knownKeys } from '../../support/secret-keys.js'

const secret: Record<string, string[]> = {
  'a URL with a password, with whatever is in it': [
    'postgres://u:p@host/db',
    'postgres://u:p/w@host/db',
    'postgres://u:p w@host/db',
    'mysql://u:p%40w@host',
    'see redis://:p@host for it',
    '//u:p@host',
    'postgres:\\/\\/u:p@host',
    'u:p4ss@db.example.com/shop',
    'u:p@localhost:5432',
    'u:p@10.0.0.7',
  ],
  'a URL that is a key itself': [
    'https://k3yk3yk3y@github.com/x.git',
    'https://host/?x=1&access_token=k#f',
    'https://host/#access_token=k',
    'https://host/?token%5B%5D=k',
    'https://hooks.slack.com/services/T0/B0/k',
    'https://discord.com/api/webhooks/1/k',
    'https://api.telegram.org/bot1:k/getMe',
  ],
  'a connection string': ['host=h user=u password=p', 'Server=h;Uid=u;Pwd=p;', 'Data Source=h; Password = p', "password='p w'"],
  'a variable or an option': ['OPENAI_API_KEY=k', 'HOST=h\nDB_PASSWORD=p', '--password p', 'run --api-key=k --verbose', '-token k'],
  'a header': ['Authorization: Bearer k', 'X-Api-Key: k3yk3yk3y', 'Accept: text/csv\nAuthorization: Basic dTpw', 'Bearer k3yk3yk3y'],
  'JSON with a secret key in it': ['{"api_key": "k"}', '[{"a": {"password": 1}}]', '{"a": "{\\"token\\": \\"k\\"}"}'],
  'a private key': ['-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----', 'a -----BEGIN OPENSSH PRIVATE KEY-----'],
  'a key in a known form': knownKeys,
}

const plain: Record<string, string[]> = {
  'URLs and addresses': [
    'https://host:8080/path',
    'http://localhost:4873/@scope/package',
    'https://medium.com/@user/a-post',
    'https://user@bitbucket.org/x.git',
    'ssh://git@host/x.git',
    's3://bucket/2024/q1.csv',
    'https://host/?max_tokens=5#token',
    'mailto:ada@example.com',
    'ada@example.com',
    'npm:package@1.2.3',
    'image:tag@sha256:abc',
    'repo:main@v1.2',
    '// see ada@example.com',
  ],
  prose: [
    'Answer in at most 100 tokens.',
    'Never tell the password: it is in the vault.',
    'Password: ask the owner',
    'Authorization: none',
    'Basic authentication',
    'the user must set x = 5 and a password',
    'a - password reset',
    'time 10:30 @ noon',
    'sk-learn-classification-model',
    'sk-learn-random-forest-of-2024',
    'xai-explanations-of-the-model',
    'gsk_Respiratory_Trial_2024_Q3',
    'r8_Results_Final_2024_Export',
    'task-based',
    'whsec_ is how it begins',
    'dapi_documentation_of_the_service',
    'shpat_documentation',
    '12345678:30 and 1234567890:AABB',
    'sbp_blood_pressure_of_all_patients_2024',
    'Measurements_2024_in_all.stores.csv',
  ],
  'settings and names': [
    'host=h user=u',
    'max_tokens=100',
    '--max-tokens 5',
    'gpt-4o-mini',
    'key=id',
    'a: b',
    '{"max_tokens": 5}',
    '[1, 2]',
    '',
  ],
  'what is public': ['-----BEGIN CERTIFICATE-----\nx', '-----BEGIN PUBLIC KEY-----', 'ssh-ed25519 AAAAC3 ada@host', 'AKIAIOSFODNN7EXAMPLE'],
}

describe('a text that is a secret whatever its key is called', () => {
  describe.each(Object.entries(secret))('%s', (_, texts) => test.each(texts)('%j', (text) => expect(holdsSecret(text)).toBe(true)))
})

describe('a text that stays readable', () => {
  describe.each(Object.entries(plain))('%s', (_, texts) => test.each(texts)('%j', (text) => expect(holdsSecret(text)).toBe(false)))
})

test.each([
  ['auth', 'none', false],
  ['auth', 'oauth2', false],
  ['auth', 'user:pw1', true],
  ['auth', 'hG7x-22kq', true],
  ['jwt', 'HS256', false],
  ['tokens', 'hG7x22kq', true],
  ['tokens', 'hello', false],
  ['app_key', 'customer_id', false],
  ['app_key', 'hG7x22kq', true],
  ['webhook_url', 'https://internal/hook', false],
  ['webhook_url', 'https://hooks.example/T0/B1/k9', true],
  ['key', 'hG7x22kq', false],
])('under %s the text %s is a secret: %s', (key, text, is) => expect(holdsSecretOf(key, text)).toBe(is))
