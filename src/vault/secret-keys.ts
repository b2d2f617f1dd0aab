const secretWords =
  /(^|_)(pass(word|wd|phrase|code)?|pwd|secret|token|api_?key|access_key|private_key|secret_key|auth_key|account_key|signing_key|encryption_key|master_key|service_account(_json|_key)?|credentials?(_json)?|authorization|bearer|connection_string|dsn|cookie)$/

/** `apiKey`, `API-KEY` and `openai_api_key` are one kind of word. */
const normalise = (key: string) =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')

/** Whether a value under this key is a secret: `openai_api_key` is, `max_tokens` is not. */
export const isSecretKey = (key: string): boolean => secretWords.test(normalise(key))

/** Whether a text is a URL that carries a password: `postgres://u:p@host`. */
export const hasUrlPassword = (text: string): boolean => /[a-z][a-z0-9+.-]*:\/\/[^\s/@]*:[^\s/@]+@/i.test(text)
