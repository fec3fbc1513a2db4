import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'

interface CurrentNode {
  fetchNode(version: string, message: string): string
  readonly PINNED_NODES: { readonly [major: string]: string }
}

/** `scripts/currentNode.mjs`, which tests and the scripts share: it fetches releases of Node from npm. */
export const { fetchNode, PINNED_NODES } = (await import(
  pathToFileURL(packagePath('scripts/currentNode.mjs')).href
)) as CurrentNode
