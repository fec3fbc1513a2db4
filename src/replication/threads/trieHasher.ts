import { CairnError, describeError } from '../../lib/errors.js'
import type { HashedTrie } from '../../sync/head/trieHasher.js'
import { Thread } from '../../workers/spawn.js'
import type { RemoteTrieHasher } from '../apply/catchUpTrie.js'

/** Start data of the thread. */
export interface TrieHasherData {
  readonly datadir: string
  /** Memory for the trie. */
  readonly cacheBytes: number
}

/** A block to note; as in `DecodedBlock`. */
export interface NotedBlock {
  readonly blockNumber: number
  readonly encodedState: Uint8Array
}

/** Messages to the thread, handled in order. After `hash`, the next one is delayed until `stored` or `begin`.
 *  `generation` counts the calls of `begin`. */
export type TrieHasherRequest =
  | { readonly kind: 'begin'; readonly generation: number; readonly blockNumber: number }
  | { readonly kind: 'note'; readonly blocks: readonly NotedBlock[] }
  | { readonly kind: 'hash' }
  | { readonly kind: 'stored' }
  | { readonly kind: 'stop' }

/** Replies of the thread: one to each `note`, one to each `hash`, unless `failed` was sent since `begin`. */
export type TrieHasherReply = { readonly generation: number } & (
  | { readonly kind: 'noted'; readonly blocks: number; readonly size: number }
  | { readonly kind: 'hashed'; readonly hashed: HashedTrie }
  | { readonly kind: 'failed'; readonly problem: string }
)

/** The thread that hashes the state trie ended. */
class TrieHasherEnded extends CairnError {}

/** A thread that hashes the state trie of a replica, in parallel to the thread that writes. */
export interface TrieHasherHandle extends RemoteTrieHasher {
  /** Ends the thread. */
  close(): Promise<void>
}

// Hashing many blocks takes some seconds.
const END_GRACE_MS = 1000
// Blocks sent together: each message wakes the thread, which takes longer than copying a block.
const BLOCKS_AT_ONCE = 16
// Max bytes of state changes sent together; the last message before hashing must fit (see FULL_NOTES in
// catchUpTrie.ts).
const BYTES_AT_ONCE = 2 ** 21

/** Creates a handle whose first `begin` starts the thread, which reads the database in `datadir`. After it died, the
 *  next `begin` starts another one. */
export function openTrieHasher(data: TrieHasherData): TrieHasherHandle {
  let thread: Thread<TrieHasherRequest, TrieHasherReply> | undefined
  let generation = 0
  let failure: Error | undefined
  let waiting = 0
  let size = 0
  let unsent: NotedBlock[] = []
  let unsentBytes = 0
  let onProgress: (() => void)[] = []
  let hashing: { resolve(hashed: HashedTrie): void; reject(error: Error): void } | undefined

  const drop = () => {
    unsent = []
    unsentBytes = 0
  }
  const progressed = () => {
    const listeners = onProgress
    onProgress = []
    for (const each of listeners) each()
  }
  const fail = (error: Error) => {
    failure = error
    waiting = 0
    drop()
    hashing?.reject(error)
    hashing = undefined
    progressed()
  }
  const answer = (reply: TrieHasherReply) => {
    if (reply.generation !== generation || failure) return
    if (reply.kind === 'failed') return fail(new CairnError(reply.problem))
    if (reply.kind === 'noted') {
      waiting -= reply.blocks
      size = reply.size
    } else {
      hashing?.resolve(reply.hashed)
      hashing = undefined
      size = 0
    }
    progressed()
  }
  const start = () => {
    const started = new Thread<TrieHasherRequest, TrieHasherReply>(new URL('./trieHasherThread.js', import.meta.url), {
      data,
      keepsAlive: 'never', // the writer determines how long the process lives
      onMessage: answer,
      onEnd: (cause) => {
        if (thread !== started) return // closed
        thread = undefined
        fail(new TrieHasherEnded(`the thread ended: ${cause instanceof Error ? describeError(cause) : 'it exited'}`))
      },
    })
    return started
  }
  const send = () => {
    if (unsent.length === 0) return
    thread?.post(
      { kind: 'note', blocks: unsent },
      unsent.map(({ encodedState }) => encodedState.buffer as ArrayBuffer),
    )
    drop()
  }
  return {
    begin: (blockNumber) => {
      thread ??= start()
      generation++
      failure = undefined
      waiting = 0
      size = 0
      drop()
      hashing = undefined
      thread.post({ kind: 'begin', generation, blockNumber })
    },
    note: (blockNumber, encodedState) => {
      if (failure) return
      waiting++
      unsent.push({ blockNumber, encodedState: new Uint8Array(encodedState) }) // a copy: of a view, the whole message would be sent
      unsentBytes += encodedState.length
      if (unsent.length === BLOCKS_AT_ONCE || unsentBytes >= BYTES_AT_ONCE) send()
    },
    get waiting() {
      return waiting
    },
    get size() {
      return size
    },
    progress: () => {
      send()
      return new Promise((resolve) => onProgress.push(resolve))
    },
    hash: () =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        send()
        hashing = { resolve, reject }
        thread?.post({ kind: 'hash' })
      }),
    stored: () => thread?.post({ kind: 'stored' }),
    close: async () => {
      const ending = thread
      if (ending === undefined) return
      thread = undefined
      fail(new TrieHasherEnded('the thread was closed'))
      await ending.end({ kind: 'stop' }, END_GRACE_MS)
    },
  }
}
