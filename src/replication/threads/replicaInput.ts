import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { ReplicaParts } from '../apply/openReplica.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { ReplicationSource } from '../codec/types.js'
import { type ConnectionHealth, createConnectionHealth } from '../failover/connectionHealth.js'
import { createHttpSource } from '../http/httpSource.js'
import type { NatsLink, NatsSettings } from '../nats/connection.js'

/** The source of a replica's blocks: another Cairn, or a stream. */
export type ReplicaSourceSettings =
  | { readonly kind: 'http'; readonly url: string }
  /** `repairUrl`: another Cairn that provides what the stream does not have any more. `until`: up to this sequence. */
  | { readonly kind: 'nats'; readonly nats: NatsSettings; readonly repairUrl?: string; readonly until?: number }

/** Provides the blocks of a replica's thread. */
export interface ReplicaInput extends Pick<ReplicaParts, 'openSource' | 'findPublished' | 'sourceHead'> {
  readonly health: ConnectionHealth
  close(): Promise<void>
}

/** Creates the input for the settings. Connects only when it is read. */
export async function openReplicaInput(
  settings: ReplicaSourceSettings,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<ReplicaInput> {
  const health = createConnectionHealth(log)
  const { onProblem, onActivity } = health
  if (settings.kind === 'http') {
    const { url } = settings
    const openSource = (chain: ReplicaChain) => createHttpSource({ url, chain, onProblem, onActivity })
    return { openSource, health, close: async () => {} }
  }
  const { nats, repairUrl, until } = settings
  const { connectNats } = await import('../nats/connection.js')
  const { createNatsSource } = await import('../nats/natsSource.js')
  const { findPublished } = await import('../nats/findPublished.js')
  const { watchWriter } = await import('../nats/watchWriter.js')
  let connecting: Promise<NatsLink> | undefined
  const connect = () => {
    connecting ??= connectNats(nats, { log, signal, onProblem })
    return connecting
  }
  const repairFor = (chain: ReplicaChain) =>
    repairUrl === undefined ? undefined : createHttpSource({ url: repairUrl, chain, onProblem, onActivity })
  let writersHead: number | undefined
  let isWatching = false
  const closing = new AbortController()
  /** Watches the lease once for the lifetime of the thread, also while nothing is applied. */
  const watch = (link: NatsLink, chain: ReplicaChain) => {
    if (isWatching) return
    isWatching = true
    health.onWriter()
    void watchWriter(link, chain, {
      log,
      signal: AbortSignal.any([signal, closing.signal]),
      onWriter: (head) => {
        writersHead = head
        health.onWriter()
      },
      onDenied: () => health.onWriter(false),
    }).catch((error: unknown) => log.error({ problem: messageOf(error) }, 'the lease of the writer cannot be read'))
  }
  const openSource = (chain: ReplicaChain): ReplicationSource => ({
    units: async function* (from, ended) {
      const link = await connect()
      watch(link, chain)
      const options = { link, chain, log, onProblem, onActivity, repair: repairFor(chain), until }
      yield* createNatsSource(options).units(from, ended)
    },
  })
  return {
    openSource,
    findPublished: async (chain, place, ended) =>
      findPublished(await connect(), chain, place, { signal: ended, onProblem }),
    sourceHead: () => writersHead,
    health,
    close: async () => {
      closing.abort(new Error('the replica ends'))
      const link = await connecting?.catch(() => undefined)
      await link?.close()
    },
  }
}
