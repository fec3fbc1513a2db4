/** What a subscription notifies of: the Ethereum chain, or layer-2 heads from block `fromBlock` on (only new ones if
 *  undefined) and reorgs. */
export type SubscriptionTopic = Topic | { readonly kind: 'l2Heads'; readonly fromBlock: number | undefined }

/** What a client subscribes to on the Ethereum chain. */
export type Topic =
  | { readonly kind: 'newHeads' }
  | { readonly kind: 'logs'; readonly criteria: LogCriteria }
  | { readonly kind: 'transactionReceipts'; readonly criteria: ReceiptCriteria }
  | { readonly kind: 'syncing' }
  | { readonly kind: 'newPendingTransactions' }

/** Which logs of new and removed blocks are wanted. Values are lower-case hex digits without `0x`. */
export interface LogCriteria {
  readonly fromBlock: number // inclusive
  readonly toBlock: number // inclusive
  /** Only logs of this block. */
  readonly blockHash?: string
  /** Undefined: any. */
  readonly addresses?: ReadonlySet<string>
  /** By position; undefined: any value, but the topic must exist. */
  readonly topics: readonly (ReadonlySet<string> | undefined)[]
  /** Approximate memory use. */
  readonly sizeBytes: number
}

/** Which receipts of new blocks are wanted. */
export interface ReceiptCriteria {
  /** Hashes of the transactions as DATA; undefined: all. */
  readonly hashes?: ReadonlySet<string>
  /** Approximate memory use. */
  readonly sizeBytes: number
}

/** The subscriptions of one WebSocket connection. */
export interface Subscriber {
  /** Returns the id of a new subscription, which starts when the response with its id is sent.
   *  @throws RpcError -32005 beyond a limit */
  subscribe(topic: SubscriptionTopic): string
  /** False if the connection has no such subscription. */
  unsubscribe(id: string): boolean
}

/** The filters of one client: an API key, or everyone on an open server, where ids are secrets. */
export interface ClientFilters {
  /** Returns the id of a new filter. `request` is kept for `requestOf`. @throws RpcError -32005 beyond a limit */
  add(topic: Topic, request?: object): string
  /** Returns the changes since the last poll, up to the newest block that is stored at the call, as a JSON array.
   *  Rejects with RpcError -32000 if there is no such filter. */
  poll(id: string): Promise<Uint8Array>
  /** The request of a log filter. @throws RpcError -32000 if there is no such filter */
  requestOf(id: string): object
  /** False if there is no such filter. */
  remove(id: string): boolean
}

/** The client's state that methods read and change. */
export interface Session {
  readonly filters: ClientFilters
  /** Undefined over HTTP, where nothing can be pushed. */
  readonly subscriber?: Subscriber
  /** True if the methods of the client's API key name `abi`. */
  readonly mayAddAbis?: boolean
}
