import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FailureLog } from '../lib/failureLog.js'
import type { Logger } from '../lib/logger.js'
import type { Metrics } from '../lib/metrics.js'
import type { Dispatcher } from '../rpc/core/dispatch.js'
import { sizeOf } from '../rpc/core/responseBytes.js'
import type { Subscriptions } from '../rpc/subscriptions/subscriptions.js'
import type { Access, Caller, Refusal } from './access/access.js'
import { type CorsPolicy, corsHeaders } from './access/cors.js'
import type { HostPolicy } from './access/hosts.js'
import { type Accounting, openRecord, type RequestRecord } from './accounting/requestRecord.js'
import type { HealthSource } from './admin/adminApp.js'
import type { MetricsPage } from './admin/metricsPage.js'
import type { Admission } from './admission/admission.js'
import type { ServerLimits } from './admission/limits.js'
import type { OutputShare } from './admission/outputBudget.js'
import type { RefusalCounter } from './admission/refusals.js'
import type { ConnectionSlots } from './connections/connections.js'
import type { HeadTracker } from './head/headTracker.js'
import { HEAD_HEADER } from './head/minBlock.js'
import type { CompressionPolicy, Compressor } from './http/compression.js'
import type { Page } from './page/page.js'
import type { SqlEndpoint } from './sql/sqlEndpoint.js'
import type { BulkEndpoint } from './stream/streamEndpoint.js'

/** A GET request whose response is a stream. */
export interface StreamExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller | Refusal
}

/** Answers requests of one path with streams. */
export interface StreamEndpoint {
  handle(exchange: StreamExchange): void
}

/** What answering calls depends on. */
export interface CallOptions {
  readonly dispatcher: Dispatcher
  readonly subscriptions: Pick<Subscriptions, 'filtersOf'>
  readonly access: Access
  readonly admission: Admission
  readonly head: HeadTracker
  readonly limits: ServerLimits
  readonly cors: CorsPolicy
  readonly compression: CompressionPolicy
  readonly metrics: Metrics
  readonly refusals: RefusalCounter
  /** Undefined when requests are not recorded. */
  readonly accounting: Accounting | undefined
  /** Counts connections of other threads too; default: those of this server. */
  readonly connectionSlots?: ConnectionSlots
  readonly log: Logger
}

/** Dependencies and options of the HTTP and WebSocket servers. */
export interface ServerOptions extends CallOptions {
  readonly subscriptions: Subscriptions
  readonly hosts: HostPolicy
  /** Read plain POST requests without Node's HTTP parser. */
  readonly plainHttp: boolean
  readonly health: HealthSource
  /** The page for browsers at `/`; undefined when it is not served. */
  readonly page: Page | undefined
  /** Undefined when `/metrics` is not served on this port. */
  readonly metricsPage: MetricsPage | undefined
  /** Answers SQL; undefined when it is not served. */
  readonly sql?: SqlEndpoint
  /** Streams rows to bulk readers; undefined when they are not served. */
  readonly bulk?: BulkEndpoint
  /** Streams blocks to replicas; undefined when they are not served. */
  readonly replication?: StreamEndpoint
  /** Receives failures to read the keys. */
  readonly failures: FailureLog
}

/** Sends the response to one request. */
export interface Reply {
  /** True when the client no longer waits for the response. */
  isGone(): boolean
  /** Also true when the client has ended its side, as nearly all clients that no longer wait do. */
  hasLeft(): boolean
  /** Sends the response, once. `headers` alternates names and values; body headers are added. `onTaken` is called once
   *  the kernel has accepted everything or the connection is gone. */
  send(status: number, headers: string[], parts: readonly Uint8Array[], onTaken?: () => void): void
  /** Sends a response of unknown length part by part, as the client reads it. Resolves once everything is written or
   *  the connection is gone. If a part is not available, closes the connection in the middle of the response. */
  sendParts(status: number, headers: string[], parts: AsyncIterable<Uint8Array>): Promise<void>
  /** True once `send` or `sendParts` was called. */
  isSent(): boolean
  /** Closes the connection without a response. */
  destroy(): void
}

/** The parts of a request that decide the form of its response. */
export interface ClientFacts {
  readonly origin: string | undefined
  readonly acceptEncoding: string | undefined
  /** The `Cairn-Min-Block` header. */
  readonly minBlock: string | undefined
  readonly remoteAddress: string | undefined
  /** For the access log: the masked key, or the name of the caller. */
  readonly key: string | undefined
}

/** A request with calls and its pending response. */
export interface Exchange {
  readonly options: CallOptions
  readonly compressor: Compressor
  readonly client: ClientFacts
  readonly reply: Reply
  /** The share of its connection. */
  readonly outputShare: OutputShare
  /** Response headers, alternating names and values. */
  readonly headers: string[]
  /** Undefined when requests are not recorded. */
  readonly record: RequestRecord | undefined
  /** True if another thread has charged the rate limit. */
  readonly isCharged?: boolean
}

/** Starts an exchange with the headers that every response has. */
export function beginExchange(
  options: CallOptions,
  parts: { compressor: Compressor; client: ClientFacts; reply: Reply; outputShare: OutputShare; isCharged?: boolean },
): Exchange {
  const head = options.head.text()
  const headers = head === undefined ? [] : [HEAD_HEADER, head]
  for (const [name, value] of corsHeaders(options.cors, parts.client.origin)) headers.push(name, value)
  const { accounting } = options
  if (accounting === undefined) return { options, ...parts, headers, record: undefined }
  const { key, remoteAddress } = parts.client
  const record = openRecord(accounting, { transport: 'http', remoteAddress, key })
  const reply = accounting.accessLog === undefined ? parts.reply : recordReply(parts.reply, record)
  return { options, ...parts, reply, headers, record }
}

/** Updates the head in the response headers. */
export function stampHead({ headers, options }: Exchange): void {
  const head = options.head.text()
  if (head === undefined) return
  if (headers[0] === HEAD_HEADER) headers[1] = head
  else headers.unshift(HEAD_HEADER, head)
}

/** Reports the end of the reply to the record. */
function recordReply(reply: Reply, record: RequestRecord): Reply {
  return {
    isSent: () => reply.isSent(),
    hasLeft: () => reply.hasLeft(),
    isGone() {
      const isGone = reply.isGone()
      if (isGone) record.end(CLIENT_LEFT, 0)
      return isGone
    },
    send(status, headers, parts, onTaken) {
      record.end(status, sizeOf(parts))
      reply.send(status, headers, parts, onTaken)
    },
    async sendParts(status, headers, parts) {
      let sizeBytes = 0
      const count = async function* () {
        for await (const part of parts) {
          sizeBytes += part.length
          yield part
        }
      }
      await reply.sendParts(status, headers, count())
      record.end(reply.isGone() ? CLIENT_LEFT : status, sizeBytes)
    },
    destroy() {
      record.end(CLIENT_LEFT, 0)
      reply.destroy()
    },
  }
}

/** The status of a request whose client did not wait for the response, as in nginx. */
export const CLIENT_LEFT = 499
