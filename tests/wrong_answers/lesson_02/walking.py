"""Counting nodes and edges, finding leaves."""

from __future__ import annotations

import itertools
from collections import deque

# --- count_graph


def walk(root):
    seen, queue = [root.grad_fn], deque([root.grad_fn])
    while queue:
        for parent, _ in queue.popleft().next_functions:
            if parent is not None and parent not in seen:
                seen.append(parent)
                queue.append(parent)
    return seen


def parents(node):
    return [parent for parent, _ in node.next_functions if parent is not None]


def count_every_path(root):
    def visit(node):
        nodes, edges = 1, 0
        for parent in parents(node):
            below = visit(parent)
            nodes, edges = nodes + below[0], edges + below[1] + 1
        return nodes, edges

    return visit(root.grad_fn)


def count_without_skipping_none(root):
    seen, todo, edges = {root.grad_fn}, [root.grad_fn], 0
    while todo:
        for parent, _ in todo.pop().next_functions:
            edges += 1
            if parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return len(seen), edges


def count_edges_first(root):
    nodes = walk(root)
    return sum(len(parents(node)) for node in nodes), len(nodes)


def count_operations(root):
    nodes = [node for node in walk(root) if node.next_functions]
    return len(nodes), sum(len(parents(node)) for node in nodes)


def count_without_root(root):
    nodes = walk(root)
    return len(nodes) - 1, sum(len(parents(node)) for node in nodes)


def count_none_too(root):
    seen, todo, edges = {root.grad_fn}, [root.grad_fn], 0
    while todo:
        node = todo.pop()
        if node is None:
            continue
        for parent, _ in node.next_functions:
            edges += 1
            if parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return len(seen), edges


def count_all_entries(root):
    nodes = walk(root)
    return len(nodes), sum(len(node.next_functions) for node in nodes)


def count_pairs(root):
    nodes = walk(root)
    return len(nodes), len({(node, parent) for node in nodes for parent in parents(node)})


def count_first_visits(root):
    nodes = walk(root)
    return len(nodes), len(nodes) - 1


def count_edges_of_operations_only(root):
    nodes = walk(root)
    inner = [p for node in nodes for p in parents(node) if p.next_functions]
    return len(nodes), len(inner)


def count_one_edge_for_the_root(root):
    nodes = walk(root)
    return len(nodes), 1 + sum(len(parents(node)) for node in nodes)


def count_one(root):
    return len(walk(root))


def count_recursively(root):
    seen = set()

    def visit(node):
        if node is None or node in seen:
            return 0
        seen.add(node)
        below = [parent for parent, _ in node.next_functions]
        return sum(parent is not None for parent in below) + sum(map(visit, below))

    edges = visit(root.grad_fn)
    return [len(seen), edges]


def count_and_print(root):
    print(count_by_layers(root))


def count_by_layers(root):
    nodes, layer, edges = {root.grad_fn}, {root.grad_fn}, 0
    while layer:
        ends = list(itertools.chain.from_iterable(map(parents, layer)))
        edges += len(ends)
        layer = set(ends) - nodes
        nodes |= layer
    return len(nodes), edges


# --- find_leaves


def leaves_as_nodes(root):
    return [node for node in walk_fast(root) if not node.next_functions]


def walk_fast(root):
    seen = {root.grad_fn: None}
    todo = [root.grad_fn]
    while todo:
        for parent in parents(todo.pop()):
            if parent not in seen:
                seen[parent] = None
                todo.append(parent)
    return list(seen)


def leaves_once_per_use(root):
    found = []
    for node in walk_fast(root):
        found += [p.variable for p in parents(node) if hasattr(p, "variable")]
    return found


def leaves_of_first_edges(root):
    node = root.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return [node.variable]


def leaves_detached(root):
    return [n.variable.detach() for n in walk_fast(root) if hasattr(n, "variable")]


def leaves_without_skipping_none(root):
    seen, todo = set(), [root.grad_fn]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
    return [node.variable for node in seen if hasattr(node, "variable")]


def leaves_right_behind_root(root):
    return [p.variable for p in parents(root.grad_fn) if hasattr(p, "variable")]


def leaves_recursively(root):
    seen, found = set(), []

    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        for parent, _ in node.next_functions:
            visit(parent)

    visit(root.grad_fn)
    return found


def leaves_as_gradients(root):
    return [n.variable.grad for n in walk_fast(root) if hasattr(n, "variable")]


def leaves_from_two_steps(root):
    near = [p for node in walk_fast(root)[:2] for p in parents(node)]
    near += [p for node in near for p in parents(node)]
    return [*{n.variable for n in near if hasattr(n, "variable")}]


def leaves_compared_by_value(root):
    found = []
    for node in walk_fast(root):
        for parent in parents(node):
            if hasattr(parent, "variable") and parent.variable not in found:
                found.append(parent.variable)
    return found


def leaves_as_set(root):
    return {n.variable for n in walk_fast(root) if type(n).__name__ == "AccumulateGrad"}


def leaves_as_generator(root):
    yield from (n.variable for n in reversed(walk_fast(root)) if not n.next_functions)


def leaves_by_queue(root):
    queue, seen, found = deque([root.grad_fn]), set(), ()
    while queue:
        node = queue.popleft()
        if node in seen or node is None:
            continue
        seen.add(node)
        if node.name() == "torch::autograd::AccumulateGrad":
            found += (node.variable,)
        queue.extend(parent for parent, _ in node.next_functions)
    return found


WRONG = {
    "count_graph": {
        "none": count_and_print,
        "none_edge": count_without_skipping_none,
        "counted_per_path": count_every_path,
        "swapped": count_edges_first,
        "leaves_left_out": count_operations,
        "root_left_out": count_without_root,
        "counted_none_as_node": count_none_too,
        "counted_none_as_edge": count_all_entries,
        "parallel_as_one": count_pairs,
        "edges_to_new_nodes": count_first_visits,
        "edges_to_leaves_left_out": count_edges_of_operations_only,
        "wrong_edges": count_one_edge_for_the_root,
        "not_two_numbers": count_one,
    },
    "find_leaves": {
        "compared_tensors": leaves_compared_by_value,
        "none_edge": leaves_without_skipping_none,
        "nodes_not_tensors": leaves_as_nodes,
        "listed_twice": leaves_once_per_use,
        "first_edge_only": leaves_of_first_edges,
        "copies": leaves_detached,
        "found_none": leaves_right_behind_root,
        "recursion": leaves_recursively,
        "not_tensors": leaves_as_gradients,
        "some_missing": leaves_from_two_steps,
    },
}

RIGHT = {
    "count_graph": [count_recursively, count_by_layers],
    "find_leaves": [leaves_as_set, leaves_as_generator, leaves_by_queue],
}
