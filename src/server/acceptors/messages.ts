import type { LogSettings } from '../../lib/logger.js'
import type { MetricFigures } from '../../lib/metrics.js'
import type { Compatibility, RpcLimits } from '../../rpc/core/context.js'
import type { UsageFigures } from '../../store/keys/usageTable.js'
import type { CorsPolicy } from '../access/cors.js'
import type { HostPolicy } from '../access/hosts.js'
import type { ServerLimits } from '../admission/limits.js'
import type { CompressionPolicy } from '../http/compression.js'
import type { PlainHead } from '../plain/plainHead.js'

/** Start data of an acceptor thread. */
export interface AcceptorData {
  readonly host: string
  readonly port: number
  readonly datadir: string
  readonly open: boolean
  readonly rateLimitRps: number
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  readonly compression: CompressionPolicy
  /** Its share of the limits of the server. */
  readonly serverLimits: ServerLimits
  /** Its share of the response cache. */
  readonly responseCacheBytes: number
  /** Run small calls in the thread. */
  readonly inlineCalls: boolean
  readonly limits: RpcLimits
  readonly compatibility: Compatibility
  readonly logging: LogSettings
  readonly methodsModule?: string
  readonly cursorSecret?: Uint8Array
  /** True if the server streams rows: such requests are passed. */
  readonly hasStreams: boolean
  /** What is recorded of each request. */
  readonly records: { readonly accessLog: boolean; readonly usage: boolean }
  /** Its number, from 1. */
  readonly thread: number
  /** Memory of `shareConnectionSlots`. */
  readonly connectionSlots: SharedArrayBuffer
  /** Where connections are passed to. */
  readonly passing: { readonly path: string; readonly token: string }
}

/** A plain request that the main thread answers. */
export interface PassedRequest {
  readonly kind: 'request'
  readonly id: number
  /** Identifies the connection in its thread. */
  readonly connection: number
  readonly head: PlainHead
  readonly body: string
  readonly remoteAddress: string | undefined
  /** True if the rate limit was charged. */
  readonly isCharged: boolean
}

/** Figures of calls of a key since the last message. */
export interface UsageRow {
  readonly keyId: number
  readonly method: string
  readonly figures: UsageFigures
}

/** Messages from an acceptor thread. `taken`: the kernel has accepted a whole response, or a part of one, or the
 *  connection is gone. `left`: the client has ended its side of a connection with passed requests. `figures` are those
 *  of the thread since its start, but `calls` and `usage` those since the last message. */
export type AcceptorReport =
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly message: string }
  | PassedRequest
  | { readonly kind: 'taken'; readonly id: number }
  | { readonly kind: 'left' | 'closed'; readonly connection: number }
  | { readonly kind: 'lines'; readonly lines: readonly object[] }
  | {
      readonly kind: 'figures'
      readonly metrics: MetricFigures
      readonly calls: number
      readonly usage: readonly UsageRow[]
    }

/** Messages to an acceptor thread. A response is a `response`, or a `begin`, parts and an `end`. `bucket`: the token
 *  bucket of a key. `stop`: close the port, finish the requests and exit; `cut`: close all connections too. */
export type AcceptorCommand =
  | {
      readonly kind: 'response'
      readonly id: number
      readonly status: number
      readonly headers: string[]
      readonly body: readonly Uint8Array[]
    }
  | { readonly kind: 'begin'; readonly id: number; readonly status: number; readonly headers: string[] }
  | { readonly kind: 'part'; readonly id: number; readonly part: Uint8Array }
  | { readonly kind: 'end' | 'destroy'; readonly id: number }
  | { readonly kind: 'bucket'; readonly keyId: number; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'report' | 'stop' | 'cut' }
