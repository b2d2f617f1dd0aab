/**
 * The used part of the HTTP client. It is loaded with the first call, because many services never make one, and they start sooner without
 * it.
 */
export { Agent, fetch, Pool, request } from 'undici'
