"""The table of a benchmark: for each row the time of ours, those of others, and ours as a ratio to each of them."""


def show(seconds):
    for unit, least in (('s ', 1.0), ('ms', 1e-3)):
        if seconds >= least:
            return f'{seconds / least:7.2f} {unit}'
    return f'{seconds * 1e6:7.2f} us'


def _width(column):
    return max(11, len(column) + 1)


class Table:
    """Prints rows as they are measured.  `columns` come after ours; `hints` say how to get those that are not there."""

    def __init__(self, columns, hints=None, width=24):
        self.columns, self.hints, self.width = list(columns), hints or {}, width
        self.rows = []

    def head(self):
        print(' ' * self.width + f'{"ours":>10}' + ''.join(f'{c:>{_width(c)}} ratio' for c in self.columns), flush=True)

    def row(self, name, times, budgets=None):
        """One row: {column: seconds}, with 'ours'; budgets are {column: the most that ours may be of it}."""
        budgets = budgets or {}
        cells, over = [], []
        for column in self.columns:
            if column in times:
                ratio = times['ours'] / times[column]
                late = ratio > budgets.get(column, float('inf'))
                over += [f'{column} {budgets[column]:.2f}'] if late else []
                cells.append(f'{show(times[column]):>{_width(column)}}{ratio:5.2f}{"!" if late else " "}')
            else:
                cells.append(f'{"-":>{_width(column)}}{"":6}')
        line = f'{name:{self.width}}{show(times["ours"])}' + ''.join(cells)
        print((line + ('  over ' + ', '.join(over) if over else '')).rstrip(), flush=True)
        ratios = {column: times['ours'] / times[column] for column in self.columns if column in times}
        self.rows.append({'name': name, **times, 'ratios': ratios, 'budgets': budgets, 'over': bool(over)})

    def foot(self):
        for column, hint in self.hints.items():
            if column in self.columns and not any(column in row for row in self.rows):
                print(f'{column}: {hint}')
