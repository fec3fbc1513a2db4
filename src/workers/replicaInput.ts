import type { ReplicaParts } from '../ingest/replication/apply/openReplica.js'
import type { ReplicaChain } from '../ingest/replication/apply/replicaChain.js'
import { createHttpSource } from '../ingest/replication/http/httpSource.js'
import type { NatsLink } from '../ingest/replication/nats/connection.js'
import type { ReplicationSource } from '../ingest/replication/types.js'
import type { Logger } from '../lib/logger.js'
import type { ReplicaSourceSettings } from './replicaProtocol.js'

/** Where a replica's thread gets blocks. */
export interface ReplicaInput extends Pick<ReplicaParts, 'openSource' | 'findPublished'> {
  /** Why there is no connection; null while there is one. */
  problem(): string | null
  close(): Promise<void>
}

/** The input of the settings. Nothing is connected before it is read. */
export async function openReplicaInput(
  settings: ReplicaSourceSettings,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<ReplicaInput> {
  let connection: string | null = null
  const problem = () => connection
  const onProblem = (found: string | null) => {
    if (found !== null && connection === null) log.warn({ problem: found }, 'no connection to the writer')
    if (found === null && connection !== null) log.info({}, 'connected to the writer')
    connection = found
  }
  if (settings.kind === 'http') {
    const { url } = settings
    return { openSource: (chain) => createHttpSource({ url, chain, onProblem }), problem, close: async () => {} }
  }
  const { nats, repairUrl, until } = settings
  const { connectNats } = await import('../ingest/replication/nats/connection.js')
  const { createNatsSource } = await import('../ingest/replication/nats/natsSource.js')
  const { findPublished } = await import('../ingest/replication/nats/findPublished.js')
  let connecting: Promise<NatsLink> | undefined
  const connect = () => {
    connecting ??= connectNats(nats, { log, signal, onProblem })
    return connecting
  }
  const repairFor = (chain: ReplicaChain) =>
    repairUrl === undefined ? undefined : createHttpSource({ url: repairUrl, chain, onProblem })
  const openSource = (chain: ReplicaChain): ReplicationSource => ({
    units: async function* (from, ended) {
      const link = await connect()
      yield* createNatsSource({ link, chain, log, onProblem, repair: repairFor(chain), until }).units(from, ended)
    },
  })
  return {
    openSource,
    findPublished: async (chain, place, ended) =>
      findPublished(await connect(), chain, place, { signal: ended, onProblem }),
    problem,
    close: async () => {
      const link = await connecting?.catch(() => undefined)
      await link?.close()
    },
  }
}
