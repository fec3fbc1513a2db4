import type { ReplicaParts } from '../ingest/replication/apply/openReplica.js'
import type { ReplicaChain } from '../ingest/replication/apply/replicaChain.js'
import { createHttpSource } from '../ingest/replication/http/httpSource.js'
import type { NatsLink } from '../ingest/replication/nats/connection.js'
import type { ReplicationSource } from '../ingest/replication/types.js'
import { messageOf } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import { type Contact, createContact } from './contact.js'
import type { ReplicaSourceSettings } from './replicaProtocol.js'

/** Where a replica's thread gets blocks. */
export interface ReplicaInput extends Pick<ReplicaParts, 'openSource' | 'findPublished' | 'sourceHead'> {
  readonly contact: Contact
  close(): Promise<void>
}

/** The input of the settings. Nothing is connected before it is read. */
export async function openReplicaInput(
  settings: ReplicaSourceSettings,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<ReplicaInput> {
  const contact = createContact(log)
  const { onProblem, onContact } = contact
  if (settings.kind === 'http') {
    const { url } = settings
    const openSource = (chain: ReplicaChain) => createHttpSource({ url, chain, onProblem, onContact })
    return { openSource, contact, close: async () => {} }
  }
  const { nats, repairUrl, until } = settings
  const { connectNats } = await import('../ingest/replication/nats/connection.js')
  const { createNatsSource } = await import('../ingest/replication/nats/natsSource.js')
  const { findPublished } = await import('../ingest/replication/nats/findPublished.js')
  const { watchWriter } = await import('../ingest/replication/nats/watchWriter.js')
  let connecting: Promise<NatsLink> | undefined
  const connect = () => {
    connecting ??= connectNats(nats, { log, signal, onProblem })
    return connecting
  }
  const repairFor = (chain: ReplicaChain) =>
    repairUrl === undefined ? undefined : createHttpSource({ url: repairUrl, chain, onProblem, onContact })
  let writersHead: number | undefined
  let isWatching = false
  const closing = new AbortController()
  /** One watch for the life of the thread, also while nothing is applied. */
  const watch = (link: NatsLink, chain: ReplicaChain) => {
    if (isWatching) return
    isWatching = true
    contact.onWriter()
    void watchWriter(link, chain, {
      log,
      signal: AbortSignal.any([signal, closing.signal]),
      onWriter: (head) => {
        writersHead = head
        contact.onWriter()
      },
      onDenied: () => contact.onWriter(false),
    }).catch((error: unknown) => log.error({ problem: messageOf(error) }, 'the lease of the writer cannot be read'))
  }
  const openSource = (chain: ReplicaChain): ReplicationSource => ({
    units: async function* (from, ended) {
      const link = await connect()
      watch(link, chain)
      const options = { link, chain, log, onProblem, onContact, repair: repairFor(chain), until }
      yield* createNatsSource(options).units(from, ended)
    },
  })
  return {
    openSource,
    findPublished: async (chain, place, ended) =>
      findPublished(await connect(), chain, place, { signal: ended, onProblem }),
    sourceHead: () => writersHead,
    contact,
    close: async () => {
      closing.abort(new Error('the replica ends'))
      const link = await connecting?.catch(() => undefined)
      await link?.close()
    },
  }
}
