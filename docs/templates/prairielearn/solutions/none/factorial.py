# Returns nothing.
def factorial(n):
    pass
