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
interface NotedBlock {
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

// Hashing many blocks takes some seconds. A thread that has not replied may load the addon of better-sqlite3, where its
// termination would abort the process; on a busy machine, threads of low priority wait for a core.
const END_GRACE_MS = { working: 1000, starting: 30_000 }
// Blocks sent together: each message wakes the thread, which takes longer than copying a block.
const BLOCKS_AT_ONCE = 16
// Max bytes of state changes sent together; the last message before hashing must fit (see FULL_NOTES in
// catchUpTrie.ts).
const BYTES_AT_ONCE = 2 ** 21

/** A thread that hashes the state trie of a replica, in parallel to the thread that writes. The first `begin` starts
 *  it; after it died, the next `begin` starts another one. */
export class TrieHasherHandle implements RemoteTrieHasher {
  readonly #data: TrieHasherData
  #thread: Thread<TrieHasherRequest, TrieHasherReply> | undefined
  #hasReplied = false
  #generation = 0
  #failure: Error | undefined
  #waiting = 0
  #size = 0
  #unsent: NotedBlock[] = []
  #unsentBytes = 0
  #onProgress: (() => void)[] = []
  #hashing: { resolve(hashed: HashedTrie): void; reject(error: Error): void } | undefined

  /** @param data of the thread, which reads the database in `datadir` */
  constructor(data: TrieHasherData) {
    this.#data = data
  }

  get waiting(): number {
    return this.#waiting
  }

  get size(): number {
    return this.#size
  }

  begin(blockNumber: number): void {
    this.#thread ??= this.#start()
    this.#generation++
    this.#failure = undefined
    this.#waiting = 0
    this.#size = 0
    this.#drop()
    this.#hashing = undefined
    this.#thread.post({ kind: 'begin', generation: this.#generation, blockNumber })
  }

  note(blockNumber: number, encodedState: Uint8Array): void {
    if (this.#failure) return
    this.#waiting++
    // A copy: of a view, the whole message would be sent.
    this.#unsent.push({ blockNumber, encodedState: new Uint8Array(encodedState) })
    this.#unsentBytes += encodedState.length
    if (this.#unsent.length === BLOCKS_AT_ONCE || this.#unsentBytes >= BYTES_AT_ONCE) this.#send()
  }

  progress(): Promise<void> {
    this.#send()
    return new Promise((resolve) => this.#onProgress.push(resolve))
  }

  hash(): Promise<HashedTrie> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#send()
      this.#hashing = { resolve, reject }
      this.#thread?.post({ kind: 'hash' })
    })
  }

  stored(): void {
    this.#thread?.post({ kind: 'stored' })
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    const ending = this.#thread
    if (ending === undefined) return
    this.#thread = undefined
    this.#fail(new TrieHasherEnded('the thread was closed'))
    await ending.end({ kind: 'stop' }, END_GRACE_MS[this.#hasReplied ? 'working' : 'starting'])
  }

  #start(): Thread<TrieHasherRequest, TrieHasherReply> {
    this.#hasReplied = false
    const thread = new Thread<TrieHasherRequest, TrieHasherReply>(new URL('./trieHasherThread.js', import.meta.url), {
      data: this.#data,
      keepsAlive: 'never', // the writer determines how long the process lives
      onMessage: (reply) => {
        this.#hasReplied = true
        this.#receive(reply)
      },
      onEnd: (cause) => {
        if (this.#thread !== thread) return // closed
        this.#thread = undefined
        const reason = cause instanceof Error ? describeError(cause) : 'it exited'
        this.#fail(new TrieHasherEnded(`the thread ended: ${reason}`))
      },
    })
    return thread
  }

  #receive(reply: TrieHasherReply): void {
    if (reply.generation !== this.#generation || this.#failure) return
    if (reply.kind === 'failed') {
      this.#fail(new CairnError(reply.problem))
      return
    }
    if (reply.kind === 'noted') {
      this.#waiting -= reply.blocks
      this.#size = reply.size
    } else {
      this.#hashing?.resolve(reply.hashed)
      this.#hashing = undefined
      this.#size = 0
    }
    this.#progressed()
  }

  #send(): void {
    if (this.#unsent.length === 0) return
    const buffers = this.#unsent.map(({ encodedState }) => encodedState.buffer as ArrayBuffer)
    this.#thread?.post({ kind: 'note', blocks: this.#unsent }, buffers)
    this.#drop()
  }

  #drop(): void {
    this.#unsent = []
    this.#unsentBytes = 0
  }

  #fail(error: Error): void {
    this.#failure = error
    this.#waiting = 0
    this.#drop()
    this.#hashing?.reject(error)
    this.#hashing = undefined
    this.#progressed()
  }

  #progressed(): void {
    for (const resolve of this.#onProgress.splice(0)) resolve()
  }
}
