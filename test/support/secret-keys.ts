/** Names whose values are secrets, in many ways of writing. */
export const secretKeys = [
  ...[
    'password',
    'PASSWORD',
    'dbPassword',
    'db_password',
    'dbpassword',
    'user-password',
    'passwd',
    'pwd',
    'pass',
    'passphrase',
    'passcode',
  ],
  ...['api_key', 'apiKey', 'API-KEY', 'apikey', 'openai_api_key', 'openaiApiKey', 'OPENAI_API_KEY', 'X-API-Key', 'api key', 'api_keys'],
  ...['token', 'access_token', 'accessToken', 'authtoken', 'refresh-token', 'secret', 'client_secret', 'clientSecret', 'secrets'],
  ...['aws_secret_access_key', 'AWSSecretAccessKey', 'private_key', 'privateKey', 'account_key', 'credentials', 'credentials_json'],
  ...['service_account', 'service_account_json', 'authorization', 'Authorization', 'bearer', 'connection_string', 'dsn', 'cookie'],
  ...['api_key_2', 'password2', 'token_', 'api_key '],
  ...['openai_key', 'anthropicKey', 'ssh_key', 'license_key', 'licence-key', 'private_key_pem', 'secret_value', 'token_value', 'token_2'],
  ...['password_hash', 'user_password_plain', 'dbpass', 'db_pass', 'smtp_pass', 'pw', 'ftp_pw', 'basic_auth', 'pin', 'otp', 'access_code'],
  ...['aws_key', 'github_key', 'slackKey', 'tls_key', 'passkey', 'SecretString', 'mnemonic', 'mot_de_passe', 'tavily_api_key'],
  ...['Passwort', 'contraseña', 'ａｐｉ＿ｋｅｙ', 'api\u200b_key'],
]

const long = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9'
const hex = '0f3abc9477dea1c2'.repeat(4)

/** Texts with a key whose form tells its vendor, one or more of each form. */
export const knownKeys: string[] = [
  `sk-proj-${long}`,
  `use sk-${long} for it`,
  'sk-proj-A1b2-C3d4E5f6G7h8I9j0K1l2M3n4O5p6',
  'sk-ant-api03-9f_Kw-2LmQ-x7Rt_BvN-4cZ8yHjP-6sDgA',
  'sk-or-v1-0f3a-Bc94-77de-a1C2',
  `gsk_${long}`,
  `xai-${long}`,
  `pplx-${long}`,
  `r8_${long}`,
  `nvapi-a1B2-${long}`,
  `tvly-dev-${long}`,
  `ghp_${long}`,
  `glpat-${long}`,
  ...['gho', 'ghs', 'ghu', 'ghr', 'npm', 'github_pat'].map((vendor) => `${vendor}_${long}`),
  ...['xoxb', 'xoxc', 'xoxp'].map((kind) => `${kind}-1234567890-${long}`),
  `xoxd-a1B2%2F${long}%3D`,
  `xapp-1-A0123456789-1234567890123-${hex}`,
  `AIza${long.slice(0, 35)}`,
  `ya29.a0-${long}`,
  ...['sk_live', 'rk_test'].map((kind) => `${kind}_${long}`),
  `SG.${long.slice(0, 22)}.${long}`,
  // With all signs of base64.
  'whsec_a1B2/3D4e+F6g7H8i9J0k1L2m3N4o5P6q7R8=',
  ...['shpat', 'shpca', 'shppa', 'shpss'].map((kind) => `${kind}_${hex.slice(0, 32)}`),
  ...['dop', 'doo', 'dor'].map((kind) => `${kind}_v1_${hex}`),
  `sbp_${hex.slice(0, 40)}`,
  `lin_api_${long}a1`,
  `dapi${hex.slice(0, 32)}`,
  `110201543:AA${long.slice(0, 33)}`,
  `MTIzNDU2Nzg5MDEyMzQ1Njc4.GhIjKl.${long}`,
  `hf_${long}`,
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
]
