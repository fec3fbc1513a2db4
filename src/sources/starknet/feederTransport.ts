import { UsageError } from '../../lib/errors.js'
import { createHttpExchange } from '../upstreams/http.js'
import { isObject, type RpcAnswer } from '../upstreams/jsonRpc.js'
import type { TransportFactory } from '../upstreams/transport.js'
import { parseL2Json } from './checkedL2.js'

/** Error code for a block that the gateway does not have, as in the RPC specification. */
export const FEEDER_NOT_FOUND = 24

const OTHER_ERROR = -32000
const FOLDER = 'feeder_gateway'

/** Sends calls as GET requests to a feeder gateway: `get_block` with `[{ blockNumber: 5 }]` is
 *  `…/feeder_gateway/get_block?blockNumber=5`. An error of the gateway is the error of the answer. The transport throws
 *  UsageError for a URL of another protocol than http. */
export const openFeeder: TransportFactory = (address, limits, unixMs) => {
  const { url, name } = address
  if (!url.protocol.startsWith('http')) {
    throw new UsageError(`${name}: a feeder gateway needs an http or https URL`)
  }
  const exchange = createHttpExchange(address, limits, {
    unixMs,
    parse: parseL2Json,
    isErrorAnswer: (parsed) => 'code' in parsed,
  })
  const target = (method: string, query: unknown): URL => {
    const folder = url.pathname.replace(/\/+$/, '')
    const whole = new URL(url)
    whole.pathname = `${folder.endsWith(`/${FOLDER}`) ? folder : `${folder}/${FOLDER}`}/${method}`
    for (const [key, value] of Object.entries(query ?? {})) whole.searchParams.set(key, String(value))
    return whole
  }
  return {
    // Each upstream request has one call: a gateway accepts no batches.
    send: async (calls, signal) => {
      signal?.throwIfAborted()
      const ask = ({ method, params }: (typeof calls)[0]) => exchange.ask(target(method, params[0]), undefined, signal)
      return (await Promise.all(calls.map(ask))).map(readAnswer)
    },
    close: exchange.close,
  }
}

function readAnswer(json: unknown): RpcAnswer {
  const { code, message } = isObject(json) ? json : {}
  if (typeof code !== 'string') return { result: json }
  const shown = typeof message === 'string' ? `${code}: ${message}` : code
  return { error: { code: /\bBLOCK_NOT_FOUND$/.test(code) ? FEEDER_NOT_FOUND : OTHER_ERROR, message: shown } }
}
