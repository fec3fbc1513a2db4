const STREAM_PATH = /^((?:\/v3(?:\/[^/?]+)?)?)\/stream\/?(?:\?.*)?$/

/** Returns the path of calls that belongs to the path of a stream: `/v3/<KEY>` for `/v3/<KEY>/stream`, and the same
 *  without a key. Undefined for another path. */
export function callPathOfStream(url: string): string | undefined {
  const path = STREAM_PATH.exec(url)?.[1]
  return path === '' ? '/' : path
}
