/** The address of an API path, even if a proxy serves the console below a folder. */
export const apiUrl = (path: string): URL => new URL(`api/${path}`, document.baseURI)
