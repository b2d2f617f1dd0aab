/** The protocol of a provider of language models: OpenAI's chat completions, or Anthropic's messages. */
export type LlmWire = 'openai' | 'anthropic'

export type LlmProvider = {
  title: string
  wire: LlmWire
  /** Its default address; null if it has none. */
  address: string | null
  /** Whether it refuses calls without a key, so that such a call need not be tried. */
  wantsKey: boolean
}

const hosted = (title: string, address: string | null, wire: LlmWire = 'openai'): LlmProvider => ({ title, wire, address, wantsKey: true })
const local = (title: string, address: string | null): LlmProvider => ({ title, wire: 'openai', address, wantsKey: false })

/** The known providers. Any other name stands for an OpenAI-compatible server, and needs an address. */
export const llmProviders: ReadonlyMap<string, LlmProvider> = new Map([
  ['openai', hosted('OpenAI', 'https://api.openai.com/v1')],
  ['anthropic', hosted('Anthropic', 'https://api.anthropic.com/v1', 'anthropic')],
  ['azure_openai', hosted('Azure OpenAI', null)],
  ['google', hosted('Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai')],
  ['groq', hosted('Groq', 'https://api.groq.com/openai/v1')],
  ['mistral', hosted('Mistral', 'https://api.mistral.ai/v1')],
  ['deepseek', hosted('DeepSeek', 'https://api.deepseek.com/v1')],
  ['openrouter', hosted('OpenRouter', 'https://openrouter.ai/api/v1')],
  ['together', hosted('Together', 'https://api.together.xyz/v1')],
  ['xai', hosted('xAI', 'https://api.x.ai/v1')],
  ['nvidia_nim', hosted('NVIDIA NIM', 'https://integrate.api.nvidia.com/v1')],
  ['ollama', local('Ollama', 'http://127.0.0.1:11434/v1')],
  ['vllm', local('vLLM', 'http://127.0.0.1:8000/v1')],
  ['llama_cpp', local('llama.cpp', 'http://127.0.0.1:8080/v1')],
  ['lm_studio', local('LM Studio', 'http://127.0.0.1:1234/v1')],
  ['litellm', local('LiteLLM', 'http://127.0.0.1:4000/v1')],
  ['openai_compatible', local('OpenAI-compatible server', null)],
])

const aliases: Readonly<Record<string, string>> = {
  azure: 'azure_openai',
  gemini: 'google',
  google_gemini: 'google',
  claude: 'anthropic',
  grok: 'xai',
  llamacpp: 'llama_cpp',
  lmstudio: 'lm_studio',
  custom: 'openai_compatible',
  compatible: 'openai_compatible',
}

/** The normal form of a provider's name. @example providerName('LM-Studio') // 'lm_studio' */
export const providerName = (written: string): string => {
  const name = written
    .trim()
    .toLowerCase()
    .replace(/[\s.-]+/g, '_')
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name
}

/** The properties of a provider; an unknown one uses OpenAI's protocol, at the given address. */
export const llmProvider = (name: string): LlmProvider => llmProviders.get(name) ?? { ...local(name, null), title: name }

/** The provider that a model's name implies; null for other names. @example providerOf('gpt-4o') // 'openai' */
export const providerOf = (modelName: string): string | null => {
  if (/^(gpt-|o\d|chatgpt)/.test(modelName)) return 'openai'
  if (modelName.startsWith('claude-')) return 'anthropic'
  return modelName.startsWith('gemini') ? 'google' : null
}
