import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../temporary.js'

type After = { after(callback: () => void | Promise<void>): void }

/** The secret of all Engine APIs under test. */
export const SECRET = Buffer.alloc(32, 0x5a)

/** Writes the secret to a file. Returns its path. */
export function writeSecret(t: After): string {
  const path = join(temporaryDirectory(t), 'jwt.hex')
  writeFileSync(path, SECRET.toString('hex'))
  return path
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token with these claims and this header, signed with HMAC-SHA256 by the secret. */
export function makeToken({
  claims = { iat: Math.floor(Date.now() / 1000) },
  header = { alg: 'HS256', typ: 'JWT' },
  secret = SECRET,
}: {
  claims?: object
  header?: object
  secret?: Buffer
} = {}): string {
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

/** The answer to a call: the result, or the error's code and message. */
export interface EngineAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

let lastId = 0

/** Calls a method of an Engine API. */
export async function callEngine(url: string, method: string, params: readonly unknown[]): Promise<EngineAnswer> {
  return (await post(url, { jsonrpc: '2.0', id: ++lastId, method, params })) as EngineAnswer
}

/** Calls methods of an Engine API with one request. Returns their answers in order. */
export async function callEngineBatch(
  url: string,
  calls: readonly { method: string; params: readonly unknown[] }[],
): Promise<EngineAnswer[]> {
  return (await post(
    url,
    calls.map((call) => ({ jsonrpc: '2.0', id: ++lastId, ...call })),
  )) as EngineAnswer[]
}

async function post(url: string, body: object): Promise<unknown> {
  const send = () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${makeToken()}` },
      body: JSON.stringify(body),
    })
  // A server closes an idle connection, maybe when this process builds blocks for seconds.
  const response = await send().catch((error: Error & { cause?: { code?: string } }) => {
    if (error.cause?.code !== 'UND_ERR_SOCKET') throw error
    return send()
  })
  if (response.status !== 200) throw new Error(`HTTP ${response.status} ${await response.text()}`)
  return response.json()
}
