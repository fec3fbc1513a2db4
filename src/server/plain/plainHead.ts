/** The head of a plain request. */
export interface PlainHead {
  /** With the query string, if any. */
  readonly path: string
  readonly bodyBytes: number
  /** False when the client asks to close the connection after the response. */
  readonly keepsAlive: boolean
  readonly contentType: string | undefined
  readonly host: string
  readonly origin: string | undefined
  readonly authorization: string | undefined
  /** The `X-API-Key` header. */
  readonly apiKey: string | undefined
  readonly acceptEncoding: string | undefined
  /** The `Cairn-Min-Block` header. */
  readonly minBlock: string | undefined
}

const REQUEST_LINE = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/
/** A field line (RFC 9112, section 5): a token, a colon, and a value of visible characters, spaces and tabs. */
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)$/

/** Headers that this parser handles. */
const KNOWN = [
  'host',
  'content-length',
  'content-type',
  'connection',
  'origin',
  'accept-encoding',
  'authorization',
  'x-api-key',
  'cairn-min-block',
] as const
/** Headers that need more than a plain response to a plain body. */
const SPECIAL = ['transfer-encoding', 'content-encoding', 'expect', 'te', 'trailer']

/** Connection options of an offer to upgrade. No POST can become a WebSocket, so every offer is ignored (RFC 9110,
 *  section 7.8): Java's HttpClient sends one with its first request. */
const IGNORED_OPTIONS = ['upgrade', 'http2-settings']

/** Parses the head of a plain request: HTTP/1.1 POST with a Content-Length, and no connection options but keep-alive,
 *  close and those of an offer to upgrade. `text` is the head without its final empty line, one character per byte.
 *  @returns undefined for any other request, valid or not; Node's parser decides about it */
export function parsePlainHead(text: string): PlainHead | undefined {
  const [requestLine, ...lines] = text.split('\r\n')
  const path = REQUEST_LINE.exec(requestLine)?.[1]
  if (path === undefined) return undefined
  const fields: { [name in (typeof KNOWN)[number]]?: string } = {}
  for (const line of lines) {
    const match = FIELD_LINE.exec(line)
    if (match === null) return undefined
    const name = match[1].toLowerCase()
    if (SPECIAL.includes(name)) return undefined
    const known = KNOWN.find((each) => each === name)
    if (known === undefined) continue
    if (fields[known] !== undefined) return undefined
    // Node refuses a tab after a Content-Length, though it is white space (RFC 9110, section 5.6.3).
    if (known === 'content-length' && match[2].endsWith('\t')) return undefined
    fields[known] = match[2].trimEnd()
  }
  const length = fields['content-length']
  if (fields.host === undefined || length === undefined || !/^\d{1,9}$/.test(length)) return undefined
  const connection = connectionOption(fields.connection)
  if (connection === undefined) return undefined
  return {
    path,
    bodyBytes: Number(length),
    keepsAlive: connection === 'keep-alive',
    contentType: fields['content-type'],
    host: fields.host,
    origin: fields.origin,
    authorization: fields.authorization,
    apiKey: fields['x-api-key'],
    acceptEncoding: fields['accept-encoding'],
    minBlock: fields['cairn-min-block'],
  }
}

/** The option that decides about the connection; undefined if there are several or others. */
function connectionOption(field: string | undefined): 'keep-alive' | 'close' | undefined {
  if (field === undefined) return 'keep-alive'
  const options = field.split(',').map((option) => option.trim().toLowerCase())
  const [option = 'keep-alive', ...others] = options.filter((each) => !IGNORED_OPTIONS.includes(each))
  return others.length === 0 && (option === 'keep-alive' || option === 'close') ? option : undefined
}
