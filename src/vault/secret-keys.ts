/** Marks a value in a request as a secret: `{"pin": {"$seal": 1234}}`. */
export const sealKey = '$seal'

/** Words that mean "secret" at the end of a key, even without a separator (`dbpassword`), in the plural, or before a number. */
const telling =
  /((password|passwd|passphrase|passwort|kennwort|contrase[nñ]a|pwd|secret|credential|(api|access|private|secret|auth|account|signing|encryption|decryption|master)_?key)s?|token|(access|auth|refresh|bearer|bot|session|api)_?tokens)$/
/** Words that mean "secret" only alone or after a separator. */
const alone =
  /^pin$|(^|_)(pw|passkeys?|mnemonic|secret_string|mot_de_passe|wachtwoord|passcode|pin_code|otp|totp|access_code|recovery_codes?|seed_phrase|senha|service_account(_json|_key)?|credentials_json|authorization|basic_auth|bearer|connection_string|dsn|cookie)$/
/** Kinds of keys that unlock something. Many other keys only name something: `primary_key`, `cache_key`, `memory_key`. */
const openingKeys =
  /(^|_)(ssh|ssl|tls|rsa|aes|pgp|gpg|hmac|jwe|jws|wallet|licen[cs]e|subscription|consumer|deploy|activation|service_role|sas|aws|bedrock|openai|anthropic|claude|azure|gemini|google|cohere|mistral|groq|huggingface|hf|replicate|together|fireworks|deepseek|xai|perplexity|openrouter|voyage|jina|nvidia|tavily|serp|serper|serpapi|brave|exa|firecrawl|pinecone|qdrant|weaviate|supabase|milvus|elastic|elasticsearch|databricks|snowflake|github|gitlab|bitbucket|slack|discord|telegram|teams|notion|airtable|hubspot|shopify|paypal|plaid|cloudflare|vercel|netlify|heroku|digitalocean|sentry|newrelic|pagerduty|mapbox|openweather|stripe|sendgrid|postmark|mailgun|mailchimp|twilio|algolia|datadog|binance|coinbase|alpaca|finnhub)_?keys?$/
/** `db_pass` and `dbpass` are passwords; `bypass` and `low_pass` are not. */
const pass = /(^|_)(db|user|admin|root|smtp|imap|mail|ftp|sftp|ssh|ldap|vpn|proxy|http|pg|mysql|redis)?pass$/
const filterPass = /(^|_)(low|high|band|all|first|second|single|multi|one|two)_pass$/
/** Suffixes that do not change the meaning of such a word: `token_value`, `private_key_pem`, `password_2`. */
const ending = /(?:_(?:value|pem|plain|plaintext|raw|b64|base64|hex|json|hash|encrypted|encoded|old|new|current|previous))?[_\d]*$/
/** Keys whose values may or may not be secrets: `auth` may be `none`. */
const doubtful =
  /^(\w+_)?(auth|jwt|webhook(_url)?|(app|application|client|server|service|session|storage|admin|shared|bot|webhook)_key)$|^tokens$/

/** Each of the words above contains one of these roots. This single test decides for nearly all keys in statements. */
const roots =
  /pass|kennwort|wachtwoord|mnemonic|contrase|pwd|pw|secret|credential|key|token|pin|otp|code|phrase|senha|account|auth|bearer|connection|dsn|cookie/
const longestWord = 200

/**
 * Normalises a key: `apiKey`, `API-KEY`, `ａｐｉ＿ｋｅｙ` and ` openai_api_key ` are the same kind of key. Only the end of a very long key is
 * read.
 */
const normalise = (key: string): string => inWords(key.slice(-longestWord)).replace(/^_+|_+$/g, '')

/** Most keys have this form already, and converting a key takes far longer than this test. */
const inWords = (key: string): string =>
  /^[a-z\d]+(?:_[a-z\d]+)*$/.test(key)
    ? key
    : key
        .normalize('NFKC')
        .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '_')

const isTelling = (word: string): boolean =>
  telling.test(word) || alone.test(word) || openingKeys.test(word) || (pass.test(word) && !filterPass.test(word))

const saysSecret = (key: string): boolean => {
  const whole = normalise(key)
  if (!roots.test(whole)) return false
  const withoutDigits = whole.replace(/[_\d]+$/, '')
  const withoutEnding = whole.replace(ending, '')
  return isTelling(withoutDigits) || (withoutEnding !== withoutDigits && isTelling(withoutEnding))
}

const keptChars = 100
const keptKeys = 5_000

/** The same test with a cache of its answers: the same keys occur all the time, and each test needs a dozen regular expressions. */
const remembering = (judge: (key: string) => boolean): ((key: string) => boolean) => {
  const known = new Map<string, boolean>()
  return (key) => {
    if (key.length > keptChars) return judge(key)
    const before = known.get(key)
    if (before !== undefined) return before
    const now = judge(key)
    if (known.size >= keptKeys) known.clear()
    known.set(key, now)
    return now
  }
}

/** Whether a value under this key is a secret: `openai_api_key` is, `max_tokens` is not. */
export const isSecretKey = remembering((key) => key === sealKey || saysSecret(key))

/** Whether the key alone cannot decide: `{"auth": "none"}` has no secret, `{"auth": "hG7x-22kq"}` has one. */
export const isDoubtfulKey = remembering((key) => doubtful.test(normalise(key).replace(/[_\d]+$/, '')))
