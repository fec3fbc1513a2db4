/* The tree that DuckDB's json_serialize_sql makes of a statement, as far as it is read here. */

/** A node of any kind: expressions have a `class`, tables and selects a `type`. */
export interface Node {
  class?: string
  type: string
  alias?: string
  // biome-ignore lint/suspicious/noExplicitAny: members depend on the kind of node
  [member: string]: any
}

/** A WITH clause: its map has no order but that of the text. */
export type CteMap = { readonly map: readonly { key: string; value: { aliases: string[]; query: { node: Node } } }[] }

/** Parses the serialized tree. Places in the text exceed what a number can hold, and are not needed. */
export function parseTree(json: string): { error: boolean; error_message?: string; statements: { node: Node }[] } {
  // A string inside has `\"` before the colon, so the pattern finds members only.
  return JSON.parse(json.replace(/"query_location":\d+/g, '"query_location":0'))
}

/** Calls `visit` with each node below, and with `node` itself. */
export function visitNodes(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visitNodes(each, visit)
  else if (typeof node === 'object' && node !== null) {
    if (typeof (node as Node).type === 'string') visit(node as Node)
    for (const value of Object.values(node)) visitNodes(value, visit)
  }
}

/** Replaces the members of a node, but keeps its alias. */
export function replaceNode(node: Node, by: Node): void {
  const alias = node.alias ?? ''
  for (const key of Object.keys(node)) delete node[key]
  Object.assign(node, by, { alias })
}

/** Creates a cast of an expression. */
export function castNode(child: Node, type: 'DOUBLE' | 'BIGINT' | 'VARCHAR'): Node {
  const cast_type = { id: type, type_info: null }
  return { class: 'CAST', type: 'OPERATOR_CAST', alias: '', query_location: 0, child, cast_type, try_cast: false }
}

/** Creates a text constant. */
export function textNode(value: string): Node {
  const text = { type: { id: 'VARCHAR', type_info: null }, is_null: false, value }
  return { class: 'CONSTANT', type: 'VALUE_CONSTANT', alias: '', query_location: 0, value: text }
}

/** Creates a call of a function or macro. */
export function callNode(name: string, children: Node[]): Node {
  return {
    ...{ class: 'FUNCTION', type: 'FUNCTION', alias: '', query_location: 0, function_name: name, schema: '', children },
    ...{ filter: null, order_bys: { type: 'ORDER_MODIFIER', orders: [] }, distinct: false, is_operator: false },
    ...{ export_state: false, catalog: '' },
  }
}
