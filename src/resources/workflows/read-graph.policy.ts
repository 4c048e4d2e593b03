import type { NodePosition, WorkflowEdge, WorkflowGraph, WorkflowNode } from './workflow-graph.policy.js';
import { isJsonObject, type JsonObject } from '../json-object.policy.js';

const ID_CHARACTERS_MAX = 200;
const TITLE_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 10_000;

/** A graph read from JSON, and the problems found. Missing and invalid fields have their defaults. */
export type ReadGraph = Readonly<{ graph: WorkflowGraph; problems: readonly string[] }>;

/** Reads the nodes and edges of a request or a file. Unknown fields are dropped. */
export function readGraph(nodes: unknown, edges: unknown): ReadGraph {
  const problems: string[] = [];
  const graph = {
    nodes: listIn('nodes', nodes, problems).flatMap((node, at) => nodeIn(node, `Node ${at + 1}`, problems) ?? []),
    edges: listIn('edges', edges, problems).flatMap((edge, at) => edgeIn(edge, `Edge ${at + 1}`, problems) ?? []),
  };
  return { graph, problems };
}

function listIn(name: string, value: unknown, problems: string[]): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  problems.push(`${name} must be a list`);
  return [];
}

function nodeIn(value: unknown, place: string, problems: string[]): WorkflowNode | undefined {
  if (!isJsonObject(value)) return unreadable(`${place} must be an object`, problems);
  const id = idIn(value, 'id', place, problems);
  const type = idIn(value, 'type', place, problems);
  const name = id === undefined ? place : `Node '${id}'`;
  const { data = {} } = value;
  if (data !== null && !isJsonObject(data)) problems.push(`${name} has an invalid configuration: data must be an object`);
  const node = {
    title: textIn(value, 'title', TITLE_CHARACTERS_MAX, name, problems),
    description: textIn(value, 'description', DESCRIPTION_CHARACTERS_MAX, name, problems),
    position: positionIn(value['position'], name, problems),
    data: isJsonObject(data) ? data : {},
  };
  return id === undefined || type === undefined ? undefined : { id, type, ...node };
}

function edgeIn(value: unknown, place: string, problems: string[]): WorkflowEdge | undefined {
  if (!isJsonObject(value)) return unreadable(`${place} must be an object`, problems);
  const id = idIn(value, 'id', place, problems);
  const name = id === undefined ? place : `Edge '${id}'`;
  const source = idIn(value, 'source', name, problems);
  const target = idIn(value, 'target', name, problems);
  const sourceHandle = textIn(value, 'sourceHandle', ID_CHARACTERS_MAX, name, problems).trim() || null;
  const targetHandle = textIn(value, 'targetHandle', ID_CHARACTERS_MAX, name, problems).trim() || null;
  if (id === undefined || source === undefined || target === undefined) return undefined;
  return { id, source, target, sourceHandle, targetHandle };
}

function unreadable(problem: string, problems: string[]): undefined {
  problems.push(problem);
}

function idIn(value: JsonObject, field: string, place: string, problems: string[]): string | undefined {
  const id = value[field];
  if (typeof id !== 'string' || id.trim() === '') return unreadable(`${place} must have ${article(field)}`, problems);
  if (id.length > ID_CHARACTERS_MAX)
    return unreadable(`${place}: ${field} must have at most ${ID_CHARACTERS_MAX} characters`, problems);
  return id;
}

const article = (field: string): string => (field === 'id' ? 'an id' : `a ${field}`);

function textIn(value: JsonObject, field: string, charactersMax: number, place: string, problems: string[]): string {
  const text = value[field] ?? '';
  if (typeof text === 'string' && text.length <= charactersMax) return text;
  problems.push(`${place}: ${field} must be a text of at most ${charactersMax} characters`);
  return '';
}

function positionIn(value: unknown, place: string, problems: string[]): NodePosition {
  if (value === undefined || value === null) return { x: 0, y: 0 };
  const { x = 0, y = 0 } = isJsonObject(value) ? value : { x: null };
  if (typeof x === 'number' && typeof y === 'number' && Number.isFinite(x) && Number.isFinite(y)) return { x, y };
  problems.push(`${place}: position must hold the numbers x and y`);
  return { x: 0, y: 0 };
}
