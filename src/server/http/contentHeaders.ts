const JSON_TYPES = ['application/json', 'application/json-rpc', 'application/jsonrequest']

/** Error message for the content headers of a request; undefined when they are valid. */
export function checkContentHeaders(
  contentType: string | undefined,
  contentEncoding: string | undefined,
): string | undefined {
  const type = (contentType ?? '').split(';')[0].trim().toLowerCase()
  if (!JSON_TYPES.includes(type)) return `content type must be ${JSON_TYPES.join(', ')}`
  if (contentEncoding !== undefined && contentEncoding !== 'identity') return 'compressed request bodies are not taken'
  return undefined
}
