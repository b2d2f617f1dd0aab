/** A question, the page of `docs/` that answers it, and words of the right passage. Without these words, any part of the page is right. */
export type Asked = { question: string; page: string; passage?: string }

/** A short text, and a question that it answers in other words. */
export type Note = { id: string; text: string; question: string }
