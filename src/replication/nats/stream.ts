import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { NatsLink } from './connection.js'
import { StreamMissing, StreamOfOtherChain, StreamReplaced } from './errors.js'
import { decodeHead, endsUnit, type MessageHead } from './messageHead.js'
import { firstAnswer } from './transientError.js'

/** The sequences in a stream. */
export interface StreamRange {
  /** The first available sequence; above `last` when none is. */
  readonly first: number
  /** The last assigned sequence; 0 in a new stream. */
  readonly last: number
}

/** The end of a stream: what is published. */
export interface StreamEnd {
  /** The last assigned sequence; 0 in a new stream. */
  readonly sequence: number
  /** Epoch of the last message; 0 when none is available. */
  readonly epoch: number
  /** The head after the last complete change set; undefined when no message is available. */
  readonly head: BlockRef | undefined
  /** With sparse state: the last addition to it in the last complete change set. */
  readonly state: number | undefined
  /** Finality from the last message, if it ends a change set. */
  readonly finality: Finality | undefined
  /** False when the last message is within a change set: its writer ended there. */
  readonly isWhole: boolean
}

/** A message in a stream. */
export interface StreamMessage {
  readonly sequence: number
  readonly subject: string
  /** `Nats-Msg-Id`; empty when it has none. */
  readonly id: string
  /** @throws InvalidMessage */
  head(): MessageHead
  readonly data: Uint8Array
}

/** The stream of a chain. All its functions throw the library's errors (see `isTransientError`), and StreamReplaced
 *  when the stream is gone or was created again. */
export interface ChainStream {
  /** `NAME@created`: changes when the stream is deleted and created again. */
  readonly name: string
  /** Its name on the server. */
  readonly stream: string
  readonly subject: string
  range(): Promise<StreamRange>
  end(): Promise<StreamEnd>
  /** Returns a message from the leader of the stream; undefined when it is not available. */
  message(sequence: number): Promise<StreamMessage | undefined>
}

/** Retries within this time are recognized by their id. The expected sequence rejects later ones. */
const DUPLICATE_WINDOW_MS = 120_000

/** Returns the name of the stream on the server. */
export function streamName({ chainId }: ReplicaChain): string {
  return `CAIRN_${chainId}`
}

/** Returns the only subject of the stream. */
export function streamSubject({ chainId, genesisHash }: ReplicaChain): string {
  return `cairn.${chainId}.${Buffer.from(genesisHash).toString('hex', 0, 4)}.block`
}

/** Opens the stream of a chain; with `create`, creates it if missing.
 *  @throws StreamMissing, StreamOfOtherChain, the library's errors */
export async function openStream(
  link: NatsLink,
  chain: ReplicaChain,
  { create = false }: { create?: boolean } = {},
): Promise<ChainStream> {
  const [stream, subject] = [streamName(chain), streamSubject(chain)]
  const info = (await findStream(link, stream)) ?? (create ? await createStream(link, stream, subject) : undefined)
  if (info === undefined) throw new StreamMissing(stream)
  const { subjects = [] } = info.config
  if (subjects.length !== 1 || subjects[0] !== subject) {
    throw new StreamOfOtherChain(stream, subject, subjects.join(', ') || 'none')
  }
  const name = nameOf(info)
  const range = async (): Promise<StreamRange> => {
    const found = await findStream(link, stream)
    if (found === undefined || nameOf(found) !== name) throw new StreamReplaced(stream, name)
    const { messages, first_seq: first, last_seq: last } = found.state
    return { first: messages === 0 ? last + 1 : first, last }
  }
  const end = async (): Promise<StreamEnd> => {
    const { first, last } = await range()
    const newest =
      first > last
        ? undefined
        : await getMessage(() => link.manager.streams.getMessage(stream, { last_by_subj: subject }))
    if (newest === undefined) {
      return { sequence: last, epoch: 0, head: undefined, state: undefined, finality: undefined, isWhole: true }
    }
    const head = newest.head()
    const isWhole = endsUnit(head)
    return {
      sequence: Math.max(last, newest.sequence),
      epoch: head.epoch,
      head: isWhole ? head.block : head.before,
      state: isWhole ? head.state?.after : head.state?.before,
      finality: isWhole ? head.finality : undefined,
      isWhole,
    }
  }
  return {
    name,
    stream,
    subject,
    range,
    end,
    message: (sequence) => getMessage(() => link.manager.streams.getMessage(stream, { seq: sequence })),
  }
}

async function findStream({ manager }: NatsLink, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await firstAnswer(() => manager.streams.info(stream))
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined
    throw error
  }
}

function createStream({ manager, settings }: NatsLink, name: string, subject: string): Promise<StreamInfo> {
  const { streamReplicas, maxAgeMs, maxBytes } = settings
  return manager.streams.add({
    name,
    subjects: [subject],
    storage: StorageType.File,
    num_replicas: streamReplicas,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: nanos(maxAgeMs),
    max_bytes: maxBytes ?? -1,
    deny_delete: true,
    deny_purge: true,
    duplicate_window: nanos(Math.min(DUPLICATE_WINDOW_MS, maxAgeMs)),
  })
}

function nameOf({ config, created }: StreamInfo): string {
  return `${config.name}@${String(created)}`
}

async function getMessage(get: () => Promise<StoredMsg | null>): Promise<StreamMessage | undefined> {
  let found: StoredMsg | null
  try {
    found = await firstAnswer(get)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.NoMessageFound) return undefined
    throw error
  }
  if (found === null) return undefined
  const { seq: sequence, subject, header, data } = found
  return { sequence, subject, id: header?.get('Nats-Msg-Id') ?? '', head: () => decodeHead(header), data }
}
