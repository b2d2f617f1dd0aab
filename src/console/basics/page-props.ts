/** The props of a page: the parts of its path that its pattern names. */
export type PageProps = { params: Record<string, string> }
