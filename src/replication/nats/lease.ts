import { randomUUID } from 'node:crypto'
import { JetStreamApiCodes, JetStreamApiError, StorageType } from '@nats-io/jetstream'
import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { NatsLink } from './connection.js'
import { firstAnswer, isTransientError } from './transientError.js'

/** The right to write a chain, held by one process at a time. */
export interface Lease {
  /** Takes the lease if it is free. `above` is the highest known epoch, as `StreamEnd.epoch`: the epoch of the lease is
   *  higher. @returns undefined when another process has the lease
   *  @throws the library's errors (see `isTransientError`), the reason of the signal */
  acquire(signal: AbortSignal, above?: number): Promise<HeldLease | undefined>
  /** Resolves when the lease is free; checks once a second. @throws the reason of the signal */
  untilFree(signal: AbortSignal): Promise<void>
  /** Returns the name of the process that currently has the lease; undefined when none has.
   *  @throws the library's errors */
  holder(): Promise<string | undefined>
}

/** A lease that is renewed until it is released or lost. */
export interface HeldLease {
  /** Higher than that of every earlier lease. */
  readonly epoch: number
  /** Aborts when another process may hold the lease: it was taken, or could not be renewed in time. */
  readonly lost: AbortSignal
  /** Frees the lease for others at once, if the servers answer within a second. */
  release(): Promise<void>
}

/** What `createLease` needs. */
export interface LeaseOptions {
  /** Names this process to operators, as `HOST:PID`. */
  readonly holder: string
  /** Returns the number of the newest block that this process has, published or not; null before it publishes. Each
   *  renewal publishes it to replicas. Default: none. */
  head?(): number | null | undefined
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

/** The server drops a lease that was not renewed for this long. */
export const LEASE_TTL_MS = 6000
const RENEW_MS = 1500
/** Delay after a failed attempt: the bucket may have another leader by then. */
const RENEW_AGAIN_MS = 250
/** Timeout of an attempt to renew. */
const ATTEMPT_MS = 1000
/** The holder gives up this long before the server does. */
const MARGIN_MS = 500
/** Timeout of releasing: the lease expires by itself. */
const RELEASE_MS = 1000
const LOOK_MS = 1000

const KEY = 'writer'

/** Content of the entry. */
interface LeaseValue {
  readonly holder: string
  /** Unique to this acquisition. */
  readonly id: string
  /** As of the last renewal, as in `LeaseOptions`. */
  readonly head?: number | null
}

/** What other processes see of a held lease. */
export type SeenLease = Pick<LeaseValue, 'holder' | 'head'>

/** Creates the lease of a chain: the entry `writer` of the bucket `CAIRN_<chainId>_LEASE`. */
export function createLease(
  link: NatsLink,
  chain: ReplicaChain,
  { holder, head = () => undefined, clock = systemClock }: LeaseOptions,
): Lease {
  let opening: Promise<KV> | undefined
  const bucket = () => {
    opening ??= openBucket(link, chain).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const look = async (): Promise<KvEntry | undefined> => {
    const entry = await read(await bucket())
    return entry?.operation === 'PUT' ? entry : undefined
  }
  return {
    acquire: async (signal, above = 0) => {
      signal.throwIfAborted()
      const kv = await bucket()
      const id = randomUUID()
      const valueNow = (): LeaseValue => ({ holder, id, head: head() })
      const askedMs = clock.nowMs()
      const revision = await take(kv, valueNow())
      if (revision === undefined) return undefined
      const held = hold(kv, valueNow, { revision, askedMs, above, clock })
      if (signal.aborted) await held.release()
      signal.throwIfAborted()
      return held
    },
    untilFree: async (signal) => {
      for (;;) {
        try {
          if ((await look()) === undefined) return
        } catch (error) {
          if (!isTransientError(error)) throw error
        }
        await clock.sleep(LOOK_MS, signal)
      }
    },
    holder: async () => {
      const entry = await look()
      return entry && readValue(entry).holder
    },
  }
}

/** Returns the current lease; undefined when no process has it. Needs the right to read one message of the bucket, and
 *  no other.
 *  @throws the library's errors (see `isTransientError`; without that right see `isDenied`) */
export async function readLease({ manager }: NatsLink, chain: ReplicaChain): Promise<SeenLease | undefined> {
  const bucket = bucketName(chain)
  const subject = `$KV.${bucket}.${KEY}`
  try {
    const found = await firstAnswer(() => manager.streams.getMessage(`KV_${bucket}`, { last_by_subj: subject }))
    if (found === null || found.header?.has('KV-Operation')) return undefined // it was released
    return readValue(found)
  } catch (error) {
    const code = error instanceof JetStreamApiError ? error.code : undefined
    if (code === JetStreamApiCodes.StreamNotFound || code === JetStreamApiCodes.NoMessageFound) return undefined
    throw error
  }
}

function bucketName({ chainId }: ReplicaChain): string {
  return `CAIRN_${chainId}_LEASE`
}

function openBucket(link: NatsLink, chain: ReplicaChain): Promise<KV> {
  return new Kvm(link.publisher).create(bucketName(chain), {
    ttl: LEASE_TTL_MS,
    history: 1,
    replicas: link.settings.streamReplicas,
    storage: StorageType.File,
    allow_direct: false, // a follower's answer may be old
  })
}

function read(kv: KV): Promise<KvEntry | null> {
  return firstAnswer(() => kv.get(KEY))
}

/** Creates the entry. @returns its revision; undefined when another entry exists */
async function take(kv: KV, value: LeaseValue): Promise<number | undefined> {
  try {
    return await kv.create(KEY, JSON.stringify(value))
  } catch (error) {
    if (!isWrongSequence(error)) throw error
    // An attempt whose answer was lost may have created it.
    const entry = await read(kv)
    return entry?.operation === 'PUT' && readValue(entry).id === value.id ? entry.revision : undefined
  }
}

function hold(
  kv: KV,
  valueNow: () => LeaseValue,
  first: { revision: number; askedMs: number; above: number; clock: Clock },
): HeldLease {
  const { above, clock } = first
  const lost = new AbortController()
  const released = new AbortController()
  let { revision, askedMs } = first
  // A bucket that was deleted starts again with low revisions.
  const epoch = revision > above ? revision : above + revision
  const renew = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    const value = valueNow()
    try {
      revision = await kv.update(KEY, JSON.stringify(value), revision, ATTEMPT_MS)
      askedMs = nowMs
    } catch (error) {
      if (!isWrongSequence(error)) return
      const entry = await read(kv)
      if (entry?.operation !== 'PUT' || readValue(entry).id !== value.id) {
        lost.abort(new Error('the lease was taken by another process'))
        return
      }
      revision = entry.revision // of an attempt whose answer was lost: its time is not known
    }
  }
  const keep = async () => {
    const ended = AbortSignal.any([lost.signal, released.signal])
    let waitMs = RENEW_MS
    while (!ended.aborted) {
      await clock.sleep(waitMs, ended).catch(() => {})
      if (ended.aborted) return
      const before = askedMs
      await renew().catch(() => {}) // retried until it is too late
      waitMs = askedMs > before ? RENEW_MS : RENEW_AGAIN_MS
    }
  }
  const watch = async () => {
    const ended = AbortSignal.any([lost.signal, released.signal])
    for (;;) {
      const leftMs = askedMs + LEASE_TTL_MS - MARGIN_MS - clock.nowMs()
      if (leftMs <= 0) lost.abort(new Error('the lease could not be renewed in time'))
      if (ended.aborted) return
      await clock.sleep(leftMs, ended).catch(() => {})
    }
  }
  const keeping = Promise.all([keep(), watch()])
  return {
    epoch,
    lost: lost.signal,
    release: async () => {
      if (released.signal.aborted) return
      released.abort(new Error('the lease was released'))
      const late = new AbortController()
      const free = async () => {
        await keeping
        if (!lost.signal.aborted) await kv.delete(KEY, { previousSeq: revision }).catch(() => {})
        late.abort()
      }
      await Promise.race([free(), clock.sleep(RELEASE_MS, late.signal).catch(() => {})])
    },
  }
}

function readValue(entry: Pick<KvEntry, 'json'>): LeaseValue {
  try {
    return entry.json<LeaseValue>()
  } catch {
    return { holder: 'unknown', id: '' }
  }
}

function isWrongSequence(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
}
