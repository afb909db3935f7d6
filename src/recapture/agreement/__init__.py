"""How far metrics agree with people: `with_people` is the one call.

`data` holds scores and ratings by system and input, `statistics` computes numbers from them and prints nothing,
`tables` says what is printed. Each knows only those before it.
"""
