import assert from 'node:assert/strict'
import { callEngine, type EngineAnswer } from './engineClient.js'
import type { EngineNode } from './engineServers.js'

/** Where the answers of geth and Cairn differ, each with the sentence of the specification (Engine API) that allows or
 *  asks for Cairn's. The answers are what `describe` returns. */
export const DIFFERENCES = {
  sidePayload: {
    sentence: "Client software MAY NOT validate the payload if the payload doesn't belong to the canonical chain.",
    geth: /^VALID own$/,
    cairn: /^ACCEPTED null$/,
  },
  invalidSidePayload: {
    sentence: "Client software MAY NOT validate the payload if the payload doesn't belong to the canonical chain.",
    geth: /^INVALID parent$/,
    cairn: /^ACCEPTED null$/,
  },
  accessList: {
    sentence:
      'If this validation fails, the call MUST return {status: INVALID, latestValidHash: null, validationError: errorMessage | null}.',
    geth: /^INVALID parent$/,
    cairn: /^INVALID null$/,
  },
  laterFork: {
    sentence:
      'Client software MUST return -38005: Unsupported fork error if the timestamp of the payload is greater or equal to the Cancun activation timestamp.',
    geth: /^error -32602$/,
    cairn: /^error -38005$/,
  },
  attributes: {
    sentence: 'This server does not build payloads: -38003 after the fork choice was applied.',
    geth: /^VALID (own|other)$/,
    cairn: /^error -38003$/,
  },
  bodiesBeyond: {
    sentence: 'Client software MAY return -38004: Too large request above 32 blocks.',
    geth: /^result$/,
    cairn: /^error -38004$/,
  },
} as const satisfies { [name: string]: { sentence: string; geth: RegExp; cairn: RegExp } }

/** The name of a known difference. */
export type Difference = keyof typeof DIFFERENCES

/** The hashes that an answer may name. */
export interface Named {
  /** Of the payload or head that was sent. */
  readonly own?: string
  /** Of its last valid ancestor. */
  readonly parent?: string
}

/** The answer in short: its status and latest valid hash, or its error's code. */
export function describe({ result, error }: EngineAnswer, { own, parent }: Named): string {
  if (error) return `error ${error.code}`
  const whole = result as { payloadStatus?: object; status?: string } | null
  const status = (whole?.payloadStatus ?? whole) as { status?: string; latestValidHash?: string | null } | null
  if (typeof status?.status !== 'string') return 'result'
  const { latestValidHash: hash } = status
  const name =
    hash === null || hash === undefined ? 'null' : hash === own ? 'own' : hash === parent ? 'parent' : 'other'
  return `${status.status} ${name}`
}

const show = (answer: EngineAnswer) => JSON.stringify(answer).slice(0, 600)

/** Sends the same requests to geth and Cairn, and compares every answer. */
export class SideBySide {
  readonly geth: EngineNode
  /** Another one after a restart. */
  cairn: EngineNode
  /** Requests sent. */
  requests = 0
  /** How often each difference was seen. */
  readonly seen = new Map<Difference, number>()

  constructor(geth: EngineNode, cairn: EngineNode) {
    this.geth = geth
    this.cairn = cairn
  }

  /** Sends a request to both. Fails unless they answer alike, or with the difference that is named. @returns Cairn's
   *  answer in short */
  async send(
    method: string,
    params: readonly unknown[],
    { difference, what, ...named }: Named & { difference?: Difference; what?: string } = {},
  ): Promise<string> {
    this.requests++
    const [geth, cairn] = await Promise.all([
      callEngine(this.geth.engineUrl, method, params),
      callEngine(this.cairn.engineUrl, method, params),
    ])
    const short = { geth: describe(geth, named), cairn: describe(cairn, named) }
    const details = () => `${what ?? ''} ${method}: geth ${show(geth)}, cairn ${show(cairn)}`
    if (difference === undefined) {
      assert.equal(short.cairn, short.geth, details())
      if (short.cairn === 'result') assert.deepEqual(cairn.result, geth.result, details())
    } else if (short.cairn !== short.geth) {
      const known = DIFFERENCES[difference]
      assert.match(short.geth, known.geth, details())
      assert.match(short.cairn, known.cairn, details())
      this.seen.set(difference, (this.seen.get(difference) ?? 0) + 1)
    }
    return short.cairn
  }
}
