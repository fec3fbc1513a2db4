import type { EvmKind } from '../../evm/kinds.js'
import type { LogSettings } from '../../lib/logger.js'
import type { ReplicationLimits } from '../../replication/http/replicationLimits.js'
import type { Compatibility, RpcLimits } from '../../rpc/core/context.js'
import type { SubscriptionLimits } from '../../rpc/subscriptions/limits.js'
import type { CorsPolicy } from '../../server/access/cors.js'
import type { HostPolicy } from '../../server/access/hosts.js'
import type { ServerLimits } from '../../server/admission/limits.js'
import type { CompressionPolicy } from '../../server/http/compression.js'
import type { SqlLimits } from '../../server/sql/sqlLimits.js'
import type { StreamLimits } from '../../server/stream/streamLimits.js'
import type { UpstreamAddress } from '../../sources/upstreams/types.js'
import type { LakeChoice } from '../../sql/protocol.js'
import type { SinkStatus } from '../../sync/sinkStatus.js'
import type { IngestWorker } from '../../sync/thread/ingestWorker.js'

/** Options of a server. */
export interface ServingOptions {
  readonly datadir: string
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly open: boolean
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  readonly compression: CompressionPolicy
  /** Read plain POSTs without Node's HTTP parser. */
  readonly plainHttp: boolean
  /** Threads that accept connections beside the main thread. */
  readonly acceptThreads: number
  /** Size of the response cache in bytes; 0: disabled. */
  readonly responseCacheBytes: number
  /** Run small calls on the main thread, with Cairn's interpreter. */
  readonly inlineCalls: boolean
  /** Read bulk logs from the pages of the database file. */
  readonly pageReads: boolean
  readonly rateLimitRps: number
  /** Where requests are logged: a file, or `-` for standard output. */
  readonly accessLog?: string
  /** Days for which key usage is kept; 0: not counted. */
  readonly usageDays: number
  /** 32 bytes that authenticate log cursors; default: the secret in the database. */
  readonly cursorSecret?: Uint8Array
  readonly metrics: MetricsOptions
  /** Serve the web explorer. */
  readonly page: boolean
  /** Limits of all clients together. */
  readonly serverLimits: ServerLimits
  /** Limits of subscriptions and filters. */
  readonly subscriptionLimits: SubscriptionLimits
  readonly scanThreads: number
  readonly evmThreads: number
  /** The interpreter for calls. */
  readonly evm: EvmKind
  readonly limits: RpcLimits
  readonly compatibility: Compatibility
  readonly logging: LogSettings
  /** Worker that follows the upstreams, if any; closed with the server. */
  readonly ingest?: IngestWorker
  /** Returns the status of the sink; undefined without one. */
  readonly sink?: () => SinkStatus
  /** Max lag in blocks at which `/ready` answers 200, as in `createLagCheck`. */
  readonly maxLag?: number
  /** Max lag of a replica in seconds at which `/ready` answers 200. */
  readonly maxLagSeconds?: number
  /** Serve SQL with these limits; undefined: not served. */
  readonly sql?: SqlLimits
  /** How SQL uses DuckDB; undefined: not at all. */
  readonly sqlLake?: LakeChoice
  /** Serve bulk streams with these limits; undefined: not served. */
  readonly stream?: StreamLimits
  /** Serve replicas with these limits; undefined: not served. */
  readonly replication?: ReplicationLimits
  /** The upstreams of `ingest`, if transactions are forwarded to them. */
  readonly forwardTo?: readonly UpstreamAddress[]
  /** Where a consensus client drives the chain, and the secret of its tokens, 32 bytes; undefined: nowhere. */
  readonly engine?: { readonly host: string; readonly port: number; readonly secret: Uint8Array }
  /** URL of a module that exports a method table as `METHODS`, in place of Cairn's own. */
  readonly methodsModule?: string
}

/** Where metrics are served; default: nowhere. */
export interface MetricsOptions {
  /** At `/metrics` of the main port. */
  readonly onRpcPort: boolean
  /** At `/metrics` of a port that otherwise serves only `/health` and `/ready`. */
  readonly ownPort: { readonly host: string; readonly port: number; readonly hosts: HostPolicy } | undefined
}
